import { describe, expect, it } from 'vitest';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { imageFor } from '../../../src/config/select-image.ts';

const operator = sandboxConfigSchema.parse({
  image: 'registry.example/default:3',
  images: ['registry.example/rust:1', 'registry.example/java@sha256:0a'],
});
const repository = (image: string | null) => repositoryConfigSchema.parse({ sandbox: { image } });

describe("the image of a repository's sandboxes", () => {
  it.each([
    ["the operator's where none is named", null, undefined],
    ['one of the list', 'registry.example/rust:1', 'registry.example/rust:1'],
    ['one of the list by digest', 'registry.example/java@sha256:0a', 'registry.example/java@sha256:0a'],
    ["the operator's, named", 'registry.example/default:3', 'registry.example/default:3'],
  ])('is %s', (_name, wanted, expected) => {
    expect(imageFor(operator, repository(wanted))).toBe(expected);
  });

  it.each([
    ['another tag', 'registry.example/rust:2'],
    ['no tag', 'registry.example/rust'],
    ['another registry', 'rust:1'],
    ['another case', 'registry.example/Rust:1'],
    ['space around it', ' registry.example/rust:1'],
    ['a longer name', 'registry.example/rust:1@sha256:00'],
    ['a pattern', 'registry.example/*'],
  ])('is refused with %s', (_name, wanted) => {
    expect(() => imageFor(operator, repository(wanted))).toThrow(
      expect.objectContaining({
        code: 'image_refused',
        detail: `.github/patchfleet.yml: sandbox.image: the operator does not allow the image \`${wanted}\``,
      }),
    );
  });

  it('is told in one line that cannot leave its code span', () => {
    expect(() => imageFor(operator, repository(`a\`\n# ${'b'.repeat(1000)}`))).toThrow(
      expect.objectContaining({
        detail: `.github/patchfleet.yml: sandbox.image: the operator does not allow the image \`a # ${'b'.repeat(196)}\``,
      }),
    );
  });
});
