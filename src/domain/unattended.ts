/**
 * Variables by which programs know that nobody is there: runners do not watch for changes or wait for keys, package
 * managers ask nothing, and nothing is drawn.
 */
export const unattended = { CI: 'true', NO_COLOR: '1' };
