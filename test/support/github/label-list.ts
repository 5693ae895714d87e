import { type Label, type Repository, type State, takeId } from './state.ts';

/** Labels of a repository differ in more than case. */
export function findLabel(labels: readonly Label[], name: string): Label | undefined {
  return labels.find((label) => label.name.toLowerCase() === name.toLowerCase());
}

/** The repository's label of that name; made in grey where it is missing, as GitHub does when one is set. */
export function findOrAddLabel(state: State, repository: Repository, name: string): Label {
  const known = findLabel(repository.labels, name);
  if (known) return known;
  const label: Label = { id: takeId(state), name, color: 'ededed', description: null, default: false };
  repository.labels.push(label);
  return label;
}
