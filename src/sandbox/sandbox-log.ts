/** The part of a pino logger that is used here. */
export interface SandboxLog {
  warn(fields: object, message: string): void;
  /** For figures of single sandboxes; where there is none they are not told. */
  debug?(fields: object, message: string): void;
  info?(fields: object, message: string): void;
}
