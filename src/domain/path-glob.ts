import picomatch from 'picomatch';

/** A glob over paths: dots are no exception, names may hold newlines, `/` at its end means all below. */
export function pathGlob(
  glob: string,
  options: { readonly nocase?: boolean } = {},
): (path: string) => boolean {
  const whole = glob.endsWith('/') ? `${glob}**` : glob;
  return picomatch(whole, { dot: true, nonegate: true, flags: options.nocase ? 'si' : 's' });
}
