const transitions = {
  open: { pay: 'paid', cancel: 'cancelled' },
  paid: { ship: 'shipped', cancel: 'refunding' },
  shipped: { arrive: 'delivered', lose: 'refunding' },
  refunding: { refund: 'cancelled' },
};

/** The state after an event; an event that does not fit is an error. */
export function nextState(state, event) {
  const next = transitions[state]?.[event];
  if (next === undefined) throw new Error(`an order that is ${state} cannot ${event}`);
  return next;
}
