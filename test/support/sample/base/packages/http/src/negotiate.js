/** The offer a client likes best by its `Accept` header, or null. */
export function negotiate(header = '*/*', offers = []) {
  const wishes = header.split(',').map((part) => {
    const [type, ...parameters] = part.split(';').map((piece) => piece.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
  });
  const likes = (offer) =>
    Math.max(
      0,
      ...wishes
        .filter(({ type }) => type === offer || type === '*/*' || type === `${offer.split('/')[0]}/*`)
        .map(({ quality }) => quality),
    );
  const best = offers.toSorted((a, b) => likes(b) - likes(a))[0];
  return best !== undefined && likes(best) > 0 ? best : null;
}
