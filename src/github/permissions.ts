import { classifyError } from '../domain/github-problem.ts';
import type { RepositoryRef } from '../domain/task.ts';
import type { CommandPermission, InstallationClient } from './port.ts';

type Permission = Awaited<
  ReturnType<InstallationClient['rest']['repos']['getCollaboratorPermissionLevel']>
>['data'];

/**
 * Asks GitHub whether the user may write to the repository. `author_association` is not used: it misleads
 * both ways. Apps, bots and organisations may not; neither may anybody when the question fails.
 */
export async function mayCommand(
  client: InstallationClient,
  repository: RepositoryRef,
  login: string,
  userType: string,
): Promise<CommandPermission> {
  return await ask(client, repository, login, userType, writes);
}

/** Whether the user may label issues: triage or more. The coarse level shows triage as `read`. */
export async function mayLabel(
  client: InstallationClient,
  repository: RepositoryRef,
  login: string,
  userType: string,
): Promise<CommandPermission> {
  return await ask(
    client,
    repository,
    login,
    userType,
    (data) =>
      writes(data) ||
      ['triage', 'maintain'].includes(data.role_name) ||
      data.user?.permissions?.triage === true,
  );
}

function writes({ permission }: Permission): boolean {
  return permission === 'admin' || permission === 'write';
}

async function ask(
  client: InstallationClient,
  repository: RepositoryRef,
  login: string,
  userType: string,
  isEnough: (data: Permission) => boolean,
): Promise<CommandPermission> {
  if (userType !== 'User' || login.endsWith('[bot]')) {
    return { allowed: false, level: null, reason: `${userType} accounts may not give commands` };
  }
  try {
    const { data } = await client.rest.repos.getCollaboratorPermissionLevel({
      owner: repository.owner,
      repo: repository.name,
      username: login,
    });
    const level = data.permission;
    return { allowed: isEnough(data), level, reason: `has ${level} permission` };
  } catch (error) {
    return { allowed: false, level: null, reason: whyUnknown(error) };
  }
}

function whyUnknown(error: unknown): string {
  const problem = classifyError(error);
  if (problem?.status === 404) return 'GitHub knows no such user or repository (404)';
  if (problem?.kind === 'refused') return `GitHub refused to tell the permission (${problem.status})`;
  const detail = error instanceof Error ? error.message : String(error);
  return `the permission could not be read: ${detail}`;
}
