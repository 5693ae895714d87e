/** The part of a pino logger that is used here. */
export interface SandboxLog {
  warn(fields: object, message: string): void;
}
