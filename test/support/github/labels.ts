import { issueIn } from './issues.ts';
import { findLabel, findOrAddLabel } from './label-list.ts';
import { labelObject } from './objects.ts';
import {
  type Effect,
  invalid,
  type Json,
  notFound,
  paginate,
  Refusal,
  type Reply,
  type RepositoryCall,
  type Route,
} from './router.ts';
import { type Issue, type Label, type Repository, type State, takeId, timestamp } from './state.ts';

const maxName = 50;
const maxDescription = 100;
const maxPerIssue = 100;

/** Sets or takes away a label; null where that changes nothing. */
export function changeLabel(issue: Issue, label: Label, action: 'labeled' | 'unlabeled'): Effect | null {
  if (issue.labels.includes(label) === (action === 'labeled')) return null;
  issue.labels =
    action === 'labeled' ? [...issue.labels, label] : issue.labels.filter((other) => other !== label);
  issue.updatedAt = timestamp();
  return { kind: 'label', action, issue, label };
}

/** Labels by the names a body gives, made where they are missing; refused before any is made. */
function labelsOf(state: State, repository: Repository, body: Json): Label[] {
  const given = (body['labels'] ?? []) as (string | { name: string })[];
  const names = given.map((label) => (typeof label === 'string' ? label : label.name));
  for (const name of names) checkName(name);
  return [...new Set(names.map((name) => findOrAddLabel(state, repository, name)))];
}

function checkName(name: string): void {
  if (name.trim() === '') throw invalid('Label', 'name', 'missing_field');
  if ([...name].length > maxName) {
    throw invalid('Label', 'name', 'invalid', `name is too long (maximum is ${maxName} characters)`);
  }
}

function replyOf(call: RepositoryCall, labels: readonly Label[], effects: readonly Effect[] = []): Reply {
  const body = labels.map((label) => labelObject(call.state, call.repository, label));
  return { status: 200, body, effects };
}

/** Adds to the labels of an issue, or with `replace` makes them all it has. */
function setLabels(call: RepositoryCall, replace: boolean): Reply {
  const issue = issueIn(call);
  const wanted = labelsOf(call.state, call.repository, call.body);
  const kept = new Set([...(replace ? [] : issue.labels), ...wanted]);
  if (kept.size > maxPerIssue) throw new Refusal(422, 'An issue cannot have more than 100 labels');
  const gone = issue.labels.filter((label) => !kept.has(label));
  const changes = [
    ...gone.map((label) => changeLabel(issue, label, 'unlabeled')),
    ...wanted.map((label) => changeLabel(issue, label, 'labeled')),
  ];
  return replyOf(
    call,
    issue.labels,
    changes.filter((effect) => effect !== null),
  );
}

function removeLabel(call: RepositoryCall): Reply {
  const issue = issueIn(call);
  const label = findLabel(issue.labels, call.params['name'] ?? '');
  if (!label) throw new Refusal(404, 'Label does not exist');
  const effect = changeLabel(issue, label, 'unlabeled');
  return replyOf(call, issue.labels, effect ? [effect] : []);
}

function removeAllLabels(call: RepositoryCall): Reply {
  const issue = issueIn(call);
  const effects = issue.labels.map((label) => changeLabel(issue, label, 'unlabeled'));
  return { status: 204, body: null, effects: effects.filter((effect) => effect !== null) };
}

function listOfIssue(call: RepositoryCall): Reply {
  const { page, headers } = paginate(call, issueIn(call).labels);
  return { ...replyOf(call, page), headers };
}

function listOfRepository(call: RepositoryCall): Reply {
  const { page, headers } = paginate(call, call.repository.labels);
  return { ...replyOf(call, page), headers };
}

function createLabel(call: RepositoryCall): Reply {
  const { state, repository, body } = call;
  const name = String(body['name']);
  const color = String(body['color'] ?? 'ededed');
  const description = body['description'] === undefined ? null : String(body['description']);
  checkName(name);
  if (!/^[0-9a-f]{6}$/i.test(color)) throw invalid('Label', 'color', 'invalid');
  if ([...(description ?? '')].length > maxDescription) {
    const message = `description is too long (maximum is ${maxDescription} characters)`;
    throw invalid('Label', 'description', 'invalid', message);
  }
  if (findLabel(repository.labels, name)) throw invalid('Label', 'name', 'already_exists');
  const label: Label = { id: takeId(state), name, color, description, default: false };
  repository.labels.push(label);
  return { status: 201, body: labelObject(state, repository, label) };
}

function readLabel(call: RepositoryCall): Reply {
  const label = findLabel(call.repository.labels, call.params['name'] ?? '');
  if (!label) throw notFound();
  return { status: 200, body: labelObject(call.state, call.repository, label) };
}

const ofIssue = '/repos/{owner}/{repo}/issues/{issue_number}/labels';
const all = '/repos/{owner}/{repo}/labels';
const read = { issues: 'read', pull_requests: 'read' } as const;
const write = { issues: 'write', pull_requests: 'write' } as const;
const as = 'installation';

export const labelRoutes: Route[] = [
  { method: 'GET', path: ofIssue, as, needs: read, handle: listOfIssue },
  { method: 'POST', path: ofIssue, as, needs: write, handle: (call) => setLabels(call, false) },
  { method: 'PUT', path: ofIssue, as, needs: write, handle: (call) => setLabels(call, true) },
  { method: 'DELETE', path: ofIssue, as, needs: write, handle: removeAllLabels },
  { method: 'DELETE', path: `${ofIssue}/{name}`, as, needs: write, handle: removeLabel },
  { method: 'GET', path: all, as, needs: read, handle: listOfRepository },
  { method: 'POST', path: all, as, needs: write, handle: createLabel },
  { method: 'GET', path: `${all}/{name}`, as, needs: read, handle: readLabel },
];
