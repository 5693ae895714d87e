export interface Audit {
  record(entry: {
    actor: string;
    action: string;
    subject: string;
    detail?: Record<string, unknown>;
  }): Promise<void>;
}
