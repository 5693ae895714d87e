/**
 * Work of one key that is asked for while some of it is being done is done together as soon as that is over: many
 * who ask at once share a transaction rather than wait for each other's. Answers come in the order of the requests;
 * where `work` fails, it fails for those it was called for.
 */
export function doTogether<Request, Answer>(
  work: (key: string, requests: readonly Request[]) => Promise<readonly Answer[]>,
  most = 500,
): (key: string, request: Request) => Promise<Answer> {
  interface Waiting {
    readonly request: Request;
    readonly answered: (answer: Answer) => void;
    readonly failed: (error: unknown) => void;
  }
  const waiting = new Map<string, Waiting[]>();

  const drain = async (key: string, list: Waiting[]) => {
    while (list.length > 0) {
      const now = list.splice(0, most);
      try {
        const answers = await work(
          key,
          now.map(({ request }) => request),
        );
        for (const [index, { answered }] of now.entries()) answered(answers[index] as Answer);
      } catch (error) {
        for (const { failed } of now) failed(error);
      }
    }
    waiting.delete(key);
  };
  return (key, request) =>
    new Promise((answered, failed) => {
      const list = waiting.get(key);
      if (list !== undefined) {
        list.push({ request, answered, failed });
        return;
      }
      const begun = [{ request, answered, failed }];
      waiting.set(key, begun);
      void drain(key, begun);
    });
}
