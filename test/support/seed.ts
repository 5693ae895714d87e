import fc from 'fast-check';

/**
 * The same histories in every run of `npm test`, so that a red run says something about the change at hand.
 * `PATCHFLEET_SEED=random` looks for others, a number repeats those of a run that found one.
 */
const asked = process.env['PATCHFLEET_SEED'] ?? '20261129';
if (asked !== 'random') fc.configureGlobal({ seed: Number(asked) });
