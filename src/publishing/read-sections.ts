import type { TaskView } from '../store/port/views.ts';
import type { Store } from '../store/port.ts';
import { readReviewRecord, type Section } from './section.ts';

export function reviewKey(taskId: string): string {
  return `review:${taskId}`;
}

/** The sections of the check run of a head, ordered by pull request. */
export async function readSections(
  store: Pick<Store, 'views' | 'publications'>,
  repositoryId: number,
  headSha: string,
): Promise<Section[]> {
  const views = await store.views.head(repositoryId, headSha);
  return Promise.all(views.map((view) => readSection(store, view)));
}

export async function readSection(store: Pick<Store, 'publications'>, view: TaskView): Promise<Section> {
  return { view, review: readReviewRecord(await store.publications.get(reviewKey(view.task.id))) };
}
