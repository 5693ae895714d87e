/** What was written below a directory. */
export interface DiskUse {
  /** Space on the disk, bytes; holes of sparse files do not count. */
  readonly bytes: number;
  /** Files, directories and whatever else. */
  readonly entries: number;
}
