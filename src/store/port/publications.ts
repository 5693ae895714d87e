import type { Failure } from '../../domain/failure.ts';
import type { Publication } from '../port.ts';

export interface Publications {
  get(key: string): Promise<Publication | null>;
  ofTask(taskId: string): Promise<Publication[]>;
  /** Creates the row when missing and marks it `sending`: a write is about to happen. Returns it as it was before. */
  begin(key: string, kind: Publication['kind'], taskId: string | null): Promise<Publication>;
  done(
    key: string,
    result: Partial<Pick<Publication, 'githubId' | 'url' | 'fingerprint' | 'detail'>>,
  ): Promise<void>;
  /** Given up for good, and kept as a dead letter. */
  fail(key: string, failure: Failure): Promise<void>;
}
