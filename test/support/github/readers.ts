import type { CheckRun, IssueComment, Reaction, Review, State } from './state.ts';
import { repositoryNamed } from './state.ts';
import type { Delivery, Webhooks } from './webhooks.ts';

/** What is on the double's GitHub now, in the order it was made. Names are `owner/name`. */
export function createReaders(state: State, webhooks: Webhooks) {
  const idOf = (fullName: string) => repositoryNamed(state, fullName).id;
  return {
    async checkRuns(fullName: string): Promise<CheckRun[]> {
      return state.checkRuns.filter((r) => r.repositoryId === idOf(fullName));
    },
    async reviews(fullName: string, number: number): Promise<Review[]> {
      return state.reviews.filter((r) => r.repositoryId === idOf(fullName) && r.pull === number);
    },
    async comments(fullName: string, number: number): Promise<IssueComment[]> {
      return state.comments.filter((c) => c.repositoryId === idOf(fullName) && c.issue === number);
    },
    async reactions(commentId: number): Promise<readonly Reaction[]> {
      return state.comments.find((c) => c.id === commentId)?.reactions ?? [];
    },
    /** Every webhook delivery that was tried, with its answer. */
    async deliveries(): Promise<readonly Delivery[]> {
      return webhooks.deliveries;
    },
  };
}
