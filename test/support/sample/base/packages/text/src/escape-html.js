const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const characters = Object.fromEntries(Object.entries(entities).map(([char, entity]) => [entity, char]));

export function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (char) => entities[char]);
}

export function unescapeHtml(html) {
  return html.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => characters[entity]);
}
