/** A row that an agent asks for while its task runs: what it found to be needed outside its own scope. */
export interface RequestedRow {
  readonly title: string;
  readonly goal: string;
  /** Literal paths or globs it alone may write. */
  readonly writes: readonly string[];
  /** Paths it should read. */
  readonly inputs: readonly string[];
  /** How one sees that it is done. */
  readonly verification: string;
}
