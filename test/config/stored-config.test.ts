import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkConfig } from '../../lambda/config/check.ts';
import { readStoredConfig, toStoredConfig } from '../../lambda/config/stored-config.ts';
import { runs } from '../support/runs.ts';
import { fileWith } from './written.ts';

const settings = fileWith({ max: 7 });

describe('a stored configuration', () => {
  it('means the same as its file', () => {
    const { text, sha256 } = toStoredConfig(settings, undefined);
    expect(readStoredConfig(text, sha256)).toEqual(checkConfig(settings));
  });

  it('has the certificates in place of their path', () => {
    const withPath = { ...settings, coder: { ...settings.coder, caBundle: '/home/me/corp.pem' } };
    const { text, sha256 } = toStoredConfig(withPath, 'the certificates');
    expect(text).not.toContain('/home/me');
    expect(readStoredConfig(text, sha256).caBundle).toBe('the certificates');
  });

  it('is the same with other comments and another layout', () => {
    const [a, b] = ['# why\ncoder: {url: "u"}', 'coder:\n  url: u   # ours'].map((yaml) =>
      toStoredConfig(parse(yaml), undefined),
    );
    expect(a).toEqual(b);
  });

  it('is ASCII without "{{", and unchanged when it is read, whatever its texts are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('{', '{{', '\\{{{', '\n'))),
        (texts) => {
          const { text } = toStoredConfig({ texts }, undefined);
          expect(text).toMatch(/^[\x20-\x7e]*$/);
          expect(text).not.toContain('{{');
          expect(JSON.parse(text)).toEqual({ config: { texts } });
        },
      ),
      runs(1000),
    );
  });

  it('is refused if any part of it is of another deployment', () => {
    const { sha256 } = toStoredConfig(settings, undefined);
    const { text } = toStoredConfig({ ...settings, limits: { maxTasks: 5 } }, undefined);
    expect(() => readStoredConfig(text, sha256)).toThrow(
      `the function was deployed with ${sha256.slice(0, 12)}…; wait until the deployment has ended. If it has ended, somebody changed a parameter: put back the values of the template (docs/construct.md)`,
    );
  });

  it('is refused with the setting that this function does not accept', () => {
    const { text, sha256 } = toStoredConfig({ ...settings, polls: [] }, undefined);
    expect(() => readStoredConfig(text, sha256)).toThrow(/polls/);
  });
});
