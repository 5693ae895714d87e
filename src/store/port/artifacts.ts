import type { Artifact } from '../port.ts';

export type NewArtifact = Pick<Artifact, 'name' | 'digest' | 'bytes' | 'mediaType'>;

/** Content-addressed storage of logs, transcripts and patches. */
export interface ArtifactStore {
  put(name: string, content: string | Uint8Array, mediaType: string): Promise<NewArtifact>;
  /** Null when it is not there; rejects when it is corrupt. */
  get(digest: string): Promise<Uint8Array | null>;
}
