/** What the offline build takes from sandbox/Dockerfile, so that nothing has to be kept the same by hand. */

/** `contract`: what is done over a base, whichever it is. Throws where the file lacks one of these. */
export function readDockerfile(text) {
  const at = text.indexOf('# ---- contract ----');
  if (at === -1) throw new Error('sandbox/Dockerfile has no line `# ---- contract ----`');
  return {
    text,
    contract: text.slice(at),
    debian: argument(text, 'DEBIAN'),
    packages: argument(text, 'PACKAGES').split(' '),
    notShipped: argument(text, 'NOT_SHIPPED').split(' '),
  };
}

/** The default of an `ARG`, with the lines of a continued one put together. */
function argument(text, name) {
  const found = new RegExp(`^ARG ${name}=(?:"([^"]+)"|(\\S+))$`, 'm').exec(text);
  if (found === null) throw new Error(`sandbox/Dockerfile has no \`ARG ${name}\``);
  return (found[1] ?? found[2]).replace(/\\\n/g, '').replace(/\s+/g, ' ').trim();
}
