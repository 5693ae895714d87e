import { issueToken, type TokenOptions } from './auth.ts';
import {
  ensureUser,
  type Installation,
  installationOf,
  type Permissions,
  type Role,
  repositoryNamed,
  type State,
  takeId,
  timestamp,
  type User,
} from './state.ts';

export function addInstallation(state: State, account: User, permissions: Permissions): Installation {
  const installation: Installation = {
    id: takeId(state),
    account,
    permissions,
    repositoryIds: null,
    suspended: false,
    createdAt: timestamp(),
  };
  state.installations.set(installation.id, installation);
  return installation;
}

/** Who may do what: installations, tokens, users and their roles. Names are `owner/name`. */
export function createAccessControls(
  state: State,
  tokenOptions: TokenOptions,
  defaultPermissions: Permissions,
) {
  const repo = (fullName: string) => repositoryNamed(state, fullName);
  return {
    /** Changes the installation of an account: permissions, repositories (names, or null for all), suspension. */
    async updateInstallation(
      owner: string,
      change: { permissions?: Permissions; repositories?: readonly string[] | null; suspended?: boolean },
    ) {
      const account = ensureUser(state, owner);
      const known = [...state.installations.values()].find((i) => i.account.id === account.id);
      const installation = known ?? addInstallation(state, account, defaultPermissions);
      if (change.permissions) installation.permissions = change.permissions;
      if (change.suspended !== undefined) installation.suspended = change.suspended;
      if (change.repositories !== undefined) {
        installation.repositoryIds =
          change.repositories && new Set(change.repositories.map((n) => repo(n).id));
      }
      return { id: installation.id };
    },
    async addUser(login: string, type: User['type'] = 'User') {
      return ensureUser(state, login, type);
    },
    /** Gives a user a role; `roleName` is for custom roles. Null: known to GitHub, but no collaborator. */
    async setPermission(fullName: string, login: string, role: Role | null, roleName?: string) {
      const user = ensureUser(state, login);
      const { roles } = repo(fullName);
      if (role === null) roles.delete(user.login.toLowerCase());
      else roles.set(user.login.toLowerCase(), { role, roleName: roleName ?? role });
    },
    /** A token of the installation that has the repository, as a test's own credential. */
    async mintToken(fullName: string, permissions?: Permissions) {
      const installation = installationOf(state, repo(fullName));
      if (!installation) throw new Error(`no installation has ${fullName}`);
      const given = { metadata: 'read', ...(permissions ?? installation.permissions) } as const;
      return issueToken(state, tokenOptions, installation, given, null).secret;
    },
    /** Makes every token issued so far unknown, as when time has passed. */
    async revokeTokens() {
      state.tokens.clear();
    },
    /** Lets the time of every token issued so far be over; gives them. Whoever holds one does not know. */
    async expireTokens() {
      const expiresAt = Date.now();
      for (const [secret, token] of state.tokens) state.tokens.set(secret, { ...token, expiresAt });
      return [...state.tokens.keys()];
    },
    async setTokenOptions(options: Partial<TokenOptions>) {
      Object.assign(tokenOptions, options);
    },
  };
}
