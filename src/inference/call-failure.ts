import type { FailureCode } from '../domain/failure.ts';

/** Why one call to a model failed, and what may be done about it. */
export interface CallFailure {
  readonly code: Extract<
    FailureCode,
    'model_unavailable' | 'model_timeout' | 'model_refused' | 'model_nonsense' | 'context_exceeded'
  >;
  /** For people; free of secrets. */
  readonly detail: string;
  /** Whether the same call may succeed a little later. */
  readonly retryable: boolean;
  /** What the server asked to wait, milliseconds; null where it did not say. */
  readonly retryAfterMs: number | null;
  /** `no`: the server surely did not bill the call. `maybe`: it may have worked on it. */
  readonly charged: 'no' | 'maybe';
}

/** Carries a {@link CallFailure} from where it was seen to where the retries are decided. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly failure: CallFailure;

  constructor(failure: CallFailure) {
    super(failure.detail);
    this.failure = failure;
  }
}

/** The answer came and cannot be used. Asking again would be billed again, so it is final. */
export function nonsense(detail: string): CallFailed {
  return new CallFailed({
    code: 'model_nonsense',
    detail,
    retryable: false,
    retryAfterMs: null,
    charged: 'maybe',
  });
}
