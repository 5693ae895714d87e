/** The page of one product. */
export function productPage(product) {
  return ['<article>', `<h1>${product.title}</h1>`, `<p>${product.text}</p>`, '</article>'].join('\n');
}
