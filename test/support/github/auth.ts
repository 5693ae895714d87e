import { createSign, createVerify, randomBytes } from 'node:crypto';
import { appObject, installationObject, repositoryObject } from './objects.ts';
import { type Call, notFound, Refusal, type Reply, type Route } from './router.ts';
import {
  type Installation,
  type Level,
  type Permissions,
  type Repository,
  type State,
  type Token,
  takeId,
  timestamp,
} from './state.ts';

/** Who asks: nobody, the app by its JWT, or an installation by its token. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'app' }
  | { readonly kind: 'installation'; readonly token: Token; readonly installation: Installation };

export interface TokenOptions {
  /** Seconds an installation token lives. GitHub: 3,600. */
  lifetime: number;
  /** `long`: the newer form, `ghs_<appid>_<jwt>`. */
  form: 'short' | 'long';
}

/** Seconds GitHub allows a clock to be off. */
const clockTolerance = 60;
const maxJwtLifetime = 600;

/** Authenticates the header; 401 where it says something that is not true. */
export function identify(state: State, header: string | undefined, now: number = Date.now()): Caller {
  if (header === undefined || header === '') return { kind: 'anonymous' };
  const secret = credential(header);
  if (secret === null) throw new Refusal(401, 'Bad credentials');
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(secret) && !secret.startsWith('ghs_')) {
    verifyJwt(state, secret, now / 1000);
    return { kind: 'app' };
  }
  const token = state.tokens.get(secret);
  const installation = token && state.installations.get(token.installationId);
  if (!token || !installation || token.expiresAt <= now) throw new Refusal(401, 'Bad credentials');
  if (installation.suspended) throw new Refusal(403, 'This installation has been suspended');
  return { kind: 'installation', token, installation };
}

/** The secret of `Authorization: token|bearer|Basic`; git sends the last with the user `x-access-token`. */
function credential(header: string): string | null {
  const match = /^(token|bearer|basic) +(\S+)$/i.exec(header);
  if (!match?.[1] || !match[2]) return null;
  if (match[1].toLowerCase() !== 'basic') return match[2];
  const [user, password] = Buffer.from(match[2], 'base64').toString('utf8').split(':');
  return user === 'x-access-token' && password ? password : null;
}

function verifyJwt(state: State, jwt: string, now: number): void {
  const [head = '', claims = '', signature = ''] = jwt.split('.');
  const undecodable = new Refusal(401, 'A JSON web token could not be decoded');
  const header = decode(head);
  const claim = decode(claims);
  if (header?.['alg'] !== 'RS256' || !claim) throw undecodable;
  const verifier = createVerify('RSA-SHA256').update(`${head}.${claims}`);
  if (!verifier.verify(state.app.publicKey, Buffer.from(signature, 'base64url'))) throw undecodable;
  const { iss, iat, exp } = claim;
  if (String(iss) !== String(state.app.id) && iss !== state.app.clientId) {
    throw new Refusal(401, "'Issuer' claim ('iss') must be an Integer");
  }
  if (typeof iat !== 'number' || iat > now + clockTolerance) {
    const text = 'must be an Integer representing the time that the assertion was issued';
    throw new Refusal(401, `'Issued at' claim ('iat') ${text}`);
  }
  if (typeof exp !== 'number' || exp <= now - clockTolerance) {
    const text = 'must be a numeric value representing the future time at which the assertion expires';
    throw new Refusal(401, `'Expiration time' claim ('exp') ${text}`);
  }
  if (exp > iat + maxJwtLifetime || exp > now + maxJwtLifetime + clockTolerance) {
    throw new Refusal(401, "'Expiration time' claim ('exp') is too far in the future");
  }
}

function decode(part: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return value && typeof value === 'object' ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

export function issueToken(
  state: State,
  options: TokenOptions,
  installation: Installation,
  permissions: Permissions,
  repositoryIds: ReadonlySet<number> | null,
): Token {
  const id = takeId(state);
  const expiresAt = Date.now() + options.lifetime * 1000;
  const random = randomBytes(27).toString('base64url').replace(/[-_]/g, 'x');
  let secret = `ghs_${random}`;
  if (options.form === 'long') {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const unsigned = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ jti: random, exp: expiresAt })}`;
    const signature = createSign('RSA-SHA256')
      .update(unsigned)
      .sign(state.app.privateKey)
      .toString('base64url');
    secret = `ghs_${state.app.id}_${unsigned}.${signature}`;
  }
  const token = { id, secret, installationId: installation.id, permissions, repositoryIds, expiresAt };
  state.tokens.set(secret, token);
  return token;
}

/** True where the token may see the repository at all; otherwise GitHub says 404. */
export function mayReach(caller: Caller, repository: Repository): boolean {
  if (caller.kind !== 'installation') return false;
  const { token, installation } = caller;
  if (installation.account.id !== repository.owner.id) return false;
  if (installation.repositoryIds && !installation.repositoryIds.has(repository.id)) return false;
  return token.repositoryIds === null || token.repositoryIds.has(repository.id);
}

/** True where one of the needed permissions was given. */
export function permits(caller: Caller, needs: Readonly<Record<string, Level>>): boolean {
  if (caller.kind !== 'installation') return false;
  const { permissions } = caller.token;
  return Object.entries(needs).some(([name, level]) => {
    const given = permissions[name];
    return given === 'write' || given === level;
  });
}

export function appRoutes(options: TokenOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/app',
      as: 'app',
      handle: (call) => ({ status: 200, body: appObject(call.state) }),
    },
    {
      method: 'GET',
      path: '/app/installations/{installation_id}',
      as: 'app',
      handle: (call) => ({ status: 200, body: installationObject(call.state, installationIn(call)) }),
    },
    {
      method: 'POST',
      path: '/app/installations/{installation_id}/access_tokens',
      as: 'app',
      handle: (call) => createToken(call, options),
    },
  ];
}

function installationIn(call: Call): Installation {
  const installation = call.state.installations.get(Number(call.params['installation_id']));
  if (!installation) throw notFound();
  return installation;
}

function createToken(call: Call, options: TokenOptions): Reply {
  const { state, body } = call;
  const installation = installationIn(call);
  if (installation.suspended) throw new Refusal(403, 'This installation has been suspended');
  const reachable = [...state.repositories.values()].filter(
    (r) => r.owner.id === installation.account.id && (installation.repositoryIds?.has(r.id) ?? true),
  );
  const named = (body['repositories'] ?? null) as string[] | null;
  const numbered = (body['repository_ids'] ?? null) as number[] | null;
  const chosen = named || numbered ? new Set<Repository>() : null;
  for (const wanted of [...(named ?? []), ...(numbered ?? [])]) {
    const found = reachable.find((r) => r.id === wanted || r.name === wanted);
    if (!found) {
      const text = 'There is at least one repository that does not exist or is not accessible to the parent';
      throw new Refusal(422, `${text} installation.`);
    }
    chosen?.add(found);
  }
  const asked = (body['permissions'] ?? null) as Permissions | null;
  for (const [name, level] of Object.entries(asked ?? {})) {
    const granted = installation.permissions[name];
    if (granted !== 'write' && granted !== level) {
      throw new Refusal(422, 'The permissions requested are not granted to this installation.');
    }
  }
  const permissions: Permissions = { metadata: 'read', ...(asked ?? installation.permissions) };
  const ids = chosen ? new Set([...chosen].map((r) => r.id)) : null;
  const token = issueToken(state, options, installation, permissions, ids);
  return {
    status: 201,
    body: {
      token: token.secret,
      expires_at: timestamp(token.expiresAt),
      permissions,
      repository_selection: chosen || installation.repositoryIds ? 'selected' : 'all',
      ...(chosen ? { repositories: [...chosen].map((r) => repositoryObject(state, r)) } : {}),
    },
  };
}
