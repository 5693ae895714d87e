import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from './auth.ts';
import type { Issue, Label, Level, PullIssue, Repository, State } from './state.ts';

export type Json = Record<string, unknown>;

/** One API request after authentication and validation. */
export interface Call {
  readonly state: State;
  readonly method: string;
  /** Path and query as they were asked, for Link headers. */
  readonly target: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Json;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
}

export interface RepositoryCall extends Call {
  readonly repository: Repository;
}

export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the write changed, in order, for the events GitHub sends about it. */
  readonly effects?: readonly Effect[];
}

/** A change that GitHub tells of with an event of its own. */
export type Effect =
  | { readonly kind: 'label'; readonly action: 'labeled' | 'unlabeled'; issue: Issue; label: Label }
  | {
      readonly kind: 'issue';
      readonly action: 'opened' | 'closed' | 'reopened' | 'edited' | 'locked' | 'unlocked' | 'deleted';
      readonly issue: Issue;
      readonly changes?: Json;
    }
  | {
      readonly kind: 'pull';
      readonly action: 'opened' | 'closed' | 'reopened' | 'edited' | 'synchronize';
      readonly issue: PullIssue;
      /** The pull request's own repository, where it is another one. */
      readonly in?: Repository;
      readonly more?: Json;
    }
  /** Ids before and after; null where the ref was not there before, or is not any more. */
  | { readonly kind: 'push'; readonly ref: string; before: string | null; after: string | null };

type Need = Readonly<Record<string, Level>>;

export type Route = { readonly method: string; readonly path: string } & (
  | { readonly as: 'anyone'; readonly handle: (call: Call) => Reply | Promise<Reply> }
  | { readonly as: 'app'; readonly handle: (call: Call) => Reply | Promise<Reply> }
  | {
      readonly as: 'installation';
      /** One of these permissions lets the call through. */
      readonly needs: Need;
      readonly handle: (call: RepositoryCall) => Reply | Promise<Reply>;
    }
);

/** An answer that refuses the request; thrown from anywhere below the server. */
export class Refusal extends Error {
  readonly reply: Reply;
  constructor(status: number, message: string, more: Json = {}) {
    super(message);
    const documentation = 'https://docs.github.com/rest';
    this.reply = {
      status,
      body: { message, ...more, documentation_url: documentation, status: String(status) },
    };
  }
}

export function notFound(): Refusal {
  return new Refusal(404, 'Not Found');
}

/** GitHub's 422 for rules that are not about one field. */
export function custom(resource: string, message: string): Refusal {
  return new Refusal(422, 'Validation Failed', { errors: [{ resource, code: 'custom', message }] });
}

/** GitHub's usual 422, which names resource, field and code. */
export function invalid(resource: string, field: string, code: string, message?: string): Refusal {
  const error = { resource, field, code, ...(message === undefined ? {} : { message }) };
  return new Refusal(422, 'Validation Failed', { errors: [error] });
}

export interface Match {
  readonly route: Route;
  readonly params: Record<string, string>;
}

/** The route of a path, with its parameters decoded. `{path}` and `{ref}` take slashes. */
export function matchRoute(routes: readonly Route[], method: string, path: string): Match | null {
  for (const route of routes) {
    if (route.method !== method) continue;
    const pattern = patternOf(route.path);
    const found = pattern.exec(path);
    if (!found) continue;
    const params: Record<string, string> = {};
    for (const [name, value] of Object.entries(found.groups ?? {})) {
      try {
        params[name] = decodeURIComponent(value ?? '');
      } catch {
        return null;
      }
    }
    return { route, params };
  }
  return null;
}

const patterns = new Map<string, RegExp>();

function patternOf(path: string): RegExp {
  let pattern = patterns.get(path);
  if (!pattern) {
    const source = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === 'path' || name === 'ref' ? `(?<${name}>.+)` : `(?<${name}>[^/]+)`,
    );
    pattern = new RegExp(`^${source}$`);
    patterns.set(path, pattern);
  }
  return pattern;
}

/** One page of a list with GitHub's Link header; 30 a page, at most 100. */
export function paginate<T>(call: Call, items: readonly T[]): { page: T[]; headers: Record<string, string> } {
  const size = Math.min(100, Math.max(1, Number(call.query['per_page'] ?? 30)));
  const number = Math.max(1, Number(call.query['page'] ?? 1));
  const last = Math.max(1, Math.ceil(items.length / size));
  const link = (page: number, rel: string) => {
    const url = new URL(call.target, call.state.url);
    url.searchParams.set('page', String(page));
    return `<${url.href}>; rel="${rel}"`;
  };
  const links: string[] = [];
  if (number > 1) links.push(link(Math.min(number - 1, last), 'prev'));
  if (number < last) links.push(link(number + 1, 'next'), link(last, 'last'));
  if (number > 1) links.push(link(1, 'first'));
  return {
    page: items.slice((number - 1) * size, number * size),
    headers: links.length > 0 ? { link: links.join(', ') } : {},
  };
}

export function numberParam(call: Call, name: string): number {
  return Number(call.params[name]);
}
