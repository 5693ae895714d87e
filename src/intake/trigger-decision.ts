import type { z } from 'zod';
import type { RepositoryRef } from '../domain/task.ts';
import type { Command } from './command-grammar.ts';

/** Title and body as they were when it was asked: whoever may edit them later asks for nothing by that. */
export interface Words {
  readonly title: string;
  readonly body: string;
}

/** What a delivery asks for, read from its payload alone. Payloads are data from outside: nothing in them is believed. */
export type TriggerDecision =
  | { readonly kind: 'ignored'; readonly reason: string }
  | {
      readonly kind: 'pull_request';
      readonly action: string;
      readonly repository: RepositoryRef;
      readonly pull: number;
      readonly actor: string;
    }
  | {
      readonly kind: 'commands';
      readonly commands: readonly Command[];
      readonly repository: RepositoryRef;
      /** Number of the issue or pull request. */
      readonly issue: number;
      readonly isPull: boolean;
      readonly words: Words;
      readonly commentId: number;
      readonly actor: string;
      readonly actorType: string;
    }
  | {
      readonly kind: 'label';
      readonly label: 'fix' | 'batch';
      readonly repository: RepositoryRef;
      readonly number: number;
      readonly isPull: boolean;
      readonly words: Words;
      /** When the label was put, ISO 8601: two events of one label are told apart by it. */
      readonly at: string;
      /** The head that whoever labelled saw; null for issues. */
      readonly headSha: string | null;
      readonly actor: string;
      readonly actorType: string;
    }
  | {
      readonly kind: 'issue_opened';
      readonly repository: RepositoryRef;
      readonly number: number;
      readonly actor: string;
    }
  | {
      readonly kind: 'closed';
      readonly repository: RepositoryRef;
      readonly number: number;
      readonly isPull: boolean;
      readonly actor: string;
    }
  | {
      readonly kind: 'push';
      readonly repository: RepositoryRef;
      readonly branch: string;
      readonly defaultBranch: string;
      /** Head of the branch after the push. */
      readonly after: string;
      readonly actor: string;
    }
  | {
      readonly kind: 'checks_failed';
      readonly repository: RepositoryRef;
      readonly taskId: string;
      readonly branch: string;
      readonly headSha: string;
      /** All checks of that app have ended; else only one of them. */
      readonly isSuite: boolean;
    };

export type TriggerOf<Kind extends TriggerDecision['kind']> = Extract<TriggerDecision, { kind: Kind }>;

export function ignored(reason: string): TriggerDecision {
  return { kind: 'ignored', reason };
}

export function lacking(error: z.ZodError): TriggerDecision {
  const paths = error.issues.map((issue) => issue.path.join('.')).slice(0, 5);
  return ignored(`the payload lacks ${paths.join(', ')}`);
}
