import { type Admitting, admitted, ignoredFor, type Settlement } from './admission-ports.ts';
import { readRepositoryFile } from './read-repository-file.ts';
import { columnsOf, onBranch } from './read-subject.ts';
import { fixIsOff } from './request-fix.ts';
import { priorities, startTask } from './start-task.ts';
import type { TriggerOf } from './trigger-decision.ts';

/**
 * A push starts the campaigns that the repository file names for its branch. The file is that of the pushed
 * commit on the default branch, and of the head of the default branch for all others.
 */
export async function startCampaigns(at: Admitting, trigger: TriggerOf<'push'>): Promise<Settlement> {
  const { github, store, delivery } = at;
  const { repository, branch, defaultBranch, after, actor } = trigger;
  const fileAt =
    branch === defaultBranch ? after : await github.readBranch(repository, trigger.defaultBranch);
  if (fileAt === null) return ignoredFor('there is no default branch');
  const file = await readRepositoryFile(github, { repository, baseSha: fileAt }, at.operatorConfig);
  // Nobody waits for an answer: a broken file is told to those who ask for something.
  if (file.config === null) return ignoredFor('the repository file is not valid');
  const campaigns = file.config.campaigns.filter((campaign) => campaign.branch === branch);
  if (campaigns.length === 0) return ignoredFor(`no campaign is started by a push to ${branch}`);
  if (!file.config.fix.enabled) return ignoredFor(fixIsOff);
  const now = await github.readRepository(repository);
  if (typeof now === 'string') return ignoredFor(now);
  if (now.archived) return ignoredFor('the repository is archived');
  const head = await github.readBranch(now.repository, branch);
  if (head === null) return ignoredFor('the branch is gone');
  const earlier = await store.tasks.ofPull(repository.id, 0);
  let started = 0;
  for (const { name, instruction } of campaigns) {
    const start = `campaign:${repository.id}:${name}:`;
    const key = `${start}${after}`;
    // Of pushes in a row the first one read takes the head that all of them led to.
    const same = earlier.find((task) => task.key.startsWith(start) && task.headSha === head);
    if (same !== undefined && same.key !== key) continue;
    started += 1;
    await startTask(at, {
      kind: 'campaign',
      key,
      ...columnsOf(onBranch(now.repository, branch, head)),
      subject: 'branch',
      number: 0,
      title: `Campaign ${name}`,
      body: '',
      instruction,
      trigger: { kind: 'push', name, actor, deliveryId: delivery.id, commentId: null },
      config: file.config,
      priority: priorities.background,
      failure: null,
    });
  }
  return started > 0 ? admitted : ignoredFor(`the campaigns of ${branch} work on its head already`);
}
