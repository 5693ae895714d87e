import { invalid, type Json } from './router.ts';
import type { Annotation } from './state.ts';

const maxAnnotationTitle = 255;
const maxAnnotationBytes = 64 * 1024;

/** What a body says of a run's output. */
export interface Output {
  readonly title: string | null;
  readonly summary: string | null;
  readonly text: string | null;
  readonly annotations: readonly Annotation[];
}

/** The output of a body, checked where the description is silent. */
export function outputOf(body: Json): Output {
  const output = (body['output'] ?? {}) as Json;
  const text = (name: string) => (output[name] === undefined ? null : String(output[name]));
  const annotations = ((output['annotations'] ?? []) as Json[]).map(annotationOf);
  return { title: text('title'), summary: text('summary'), text: text('text'), annotations };
}

function annotationOf(input: Json): Annotation {
  const refuse = (field: string, reason: string) =>
    invalid('CheckRun', `annotations.${field}`, 'invalid', reason);
  const optional = <T>(name: string) => (input[name] ?? null) as T | null;
  const annotation: Annotation = {
    path: String(input['path']),
    start_line: Number(input['start_line']),
    end_line: Number(input['end_line']),
    start_column: optional<number>('start_column'),
    end_column: optional<number>('end_column'),
    annotation_level: String(input['annotation_level']),
    title: optional<string>('title'),
    message: String(input['message']),
    raw_details: optional<string>('raw_details'),
  };
  const { start_line: start, end_line: end, start_column: from, end_column: to } = annotation;
  if (annotation.path === '' || annotation.path.startsWith('/')) throw refuse('path', 'must be relative');
  if (start < 1 || end < start) throw refuse('end_line', 'must not be before start_line');
  if ((from !== null || to !== null) && start !== end)
    throw refuse('start_column', 'needs start_line = end_line');
  if (from !== null && to !== null && to < from)
    throw refuse('end_column', 'must not be before start_column');
  if ([...(annotation.title ?? '')].length > maxAnnotationTitle) throw refuse('title', 'is too long');
  if (annotation.message === '') throw refuse('message', 'is missing');
  for (const field of ['message', 'raw_details'] as const) {
    if (Buffer.byteLength(annotation[field] ?? '') > maxAnnotationBytes) throw refuse(field, 'exceeds 64 KB');
  }
  return annotation;
}
