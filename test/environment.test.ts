import { expect, it } from 'vitest';
import { readEnvironment } from '../lambda/environment.ts';

const sha256 = '0123456789abcdef'.repeat(4);
const read = (variables: Readonly<Record<string, string>>) =>
  readEnvironment({ AUTOSCALER_CLUSTER: 'builds', ...variables }, 'autoscaler.yaml');

it('reads the names of the parameters in their order', () => {
  const stored = { AUTOSCALER_CONFIG_PARAMETERS: '/a/2,/a/1', AUTOSCALER_CONFIG_SHA256: sha256 };
  expect(read(stored).stored).toEqual({ parameters: ['/a/2', '/a/1'], sha256 });
  expect(read({}).stored).toBeUndefined();
});

it('keeps no record of builds if no parameter is named for it', () => {
  expect(read({ AUTOSCALER_RECORD: '/stack/record' }).record).toBe('/stack/record');
  expect(read({}).record).toBeUndefined();
  expect(() => read({ AUTOSCALER_RECORD: '' })).toThrow(/AUTOSCALER_RECORD is empty; name an SSM parameter/);
});

it('lists the tasks of a shared cluster by service unless the stack says that the cluster is its own', () => {
  expect(read({ AUTOSCALER_OWNS_CLUSTER: 'true' }).ownsCluster).toBe(true);
  expect(read({}).ownsCluster).toBeUndefined();
  expect(() => read({ AUTOSCALER_OWNS_CLUSTER: 'yes' })).toThrow(/AUTOSCALER_OWNS_CLUSTER is not "true"/);
});

it.each([
  { variables: { AUTOSCALER_CONFIG_PARAMETERS: '/a/1' }, says: /set both, or neither/ },
  { variables: { AUTOSCALER_CONFIG_SHA256: sha256 }, says: /set both, or neither/ },
  {
    variables: { AUTOSCALER_CONFIG_PARAMETERS: '/a/1,,/a/2', AUTOSCALER_CONFIG_SHA256: sha256 },
    says: /AUTOSCALER_CONFIG_PARAMETERS is no list of SSM parameters; write their names, separated by commas$/,
  },
  {
    variables: { AUTOSCALER_CONFIG_PARAMETERS: '/a/1', AUTOSCALER_CONFIG_SHA256: 'abc' },
    says: /AUTOSCALER_CONFIG_SHA256 is no SHA-256; write 64 hexadecimal digits$/,
  },
])('refuses the variables $variables', ({ variables, says }) => {
  expect(() => read(variables)).toThrow(says);
});
