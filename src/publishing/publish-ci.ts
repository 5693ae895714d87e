import type { PublishingDeps } from './ask-github.ts';
import { plural } from './conclude.ts';
import { codeSpan } from './defuse.ts';
import { fitItems } from './fit-markdown.ts';
import { repositoryOf } from './home-comment.ts';
import type { CiReport } from './port.ts';
import { publishComment } from './write-comment.ts';

export function ciKey(taskId: string, headSha: string): string {
  return `ci:${taskId}:${headSha}`;
}

/** One comment per head on our own pull request that names what failed in its CI. */
export async function publishCi(
  deps: PublishingDeps,
  taskId: string,
  report: CiReport,
  signal?: AbortSignal,
): Promise<void> {
  const task = await deps.store.tasks.get(taskId);
  if (task === null || report.failing.length === 0) return;
  const comment = {
    key: ciKey(taskId, report.headSha),
    repository: repositoryOf(task),
    issue: report.pull,
    body: renderCi(report),
    taskId,
  };
  await publishComment(deps, comment, signal);
}

export function renderCi({ failing, headSha }: CiReport): string {
  const names = [...new Set(failing)].toSorted();
  return fitItems({
    before: `**${plural(names.length, 'check')} of this repository failed on ${headSha.slice(0, 12)}**, which Patchfleet's own verification did not show:\n\n`,
    items: names.map((name) => `- ${codeSpan(name, 200)}`),
    after: '',
    gap: '\n',
    max: 20_000,
    more: (left) => `- and ${left} more`,
  }).text;
}
