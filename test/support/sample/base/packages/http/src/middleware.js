/** Handlers as one: each gets the request and what comes next. */
export function compose(...handlers) {
  return (request) => {
    const run = (index) => {
      const handler = handlers[index];
      if (handler === undefined) throw new Error('no handler answered');
      return handler(request, () => run(index + 1));
    };
    return run(0);
  };
}
