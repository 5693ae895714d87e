/** The words of a name in any usual notation: `orderId`, `order-id`, `Order ID`. Lower case. */
export function words(text) {
  return text
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}
