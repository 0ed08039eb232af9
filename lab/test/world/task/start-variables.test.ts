import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { daemonVariables } from '../../../../infra/constructs/pool/daemon-variables.ts';
import { readCredential } from '../../../world/task/start-variables.ts';

const secret = { secret: 's' };

describe('the variables of a task', () => {
  it.each([
    {
      variables: { CODER_PROVISIONER_DAEMON_KEY: 'k' },
      credential: { key: 'k' },
      because: 'a key is enough',
    },
    {
      variables: { CODER_PROVISIONER_DAEMON_KEY: 'k', CODER_SESSION_TOKEN: 't' },
      credential: { key: 'k' },
      because: 'coder sends no token beside a key',
    },
    {
      variables: { CODER_PROVISIONER_DAEMON_KEY: 'k', CODER_PROVISIONERD_TAGS: 'a=b' },
      credential: {},
      because: 'coder refuses tags with a key',
    },
    {
      variables: { CODER_PROVISIONER_DAEMON_KEY: 'k', CODER_PROVISIONER_DAEMON_PSK: 'p' },
      credential: {},
      because: 'coder refuses two keys',
    },
    {
      variables: { CODER_PROVISIONER_DAEMON_PSK: 'p', CODER_ORGANIZATION: 'data' },
      credential: {},
      because: 'coder refuses an organization with a pre-shared key',
    },
    {
      variables: { CODER_PROVISIONER_DAEMON_PSK: 'p', CODER_PROVISIONERD_TAGS: 'a=b=c,"d=""1,2"""' },
      credential: { psk: 'p', tags: { a: 'b=c', d: '"1,2"', scope: 'organization' } },
      because: 'a tag ends at its first =, and quotes are as in CSV',
    },
    {
      variables: { CODER_SESSION_TOKEN: 't', CODER_ORGANIZATION: '', CODER_PROVISIONERD_TAGS: 'scope=user' },
      credential: { token: 't', tags: { scope: 'user' } },
      because: 'an empty variable counts as unset',
    },
    {
      variables: { CODER_SESSION_TOKEN: 't', CODER_PROVISIONERD_TAGS: 'gpu' },
      credential: {},
      because: 'coder refuses a tag without =',
    },
    {
      variables: { CODER_SESSION_TOKEN: 't', CODER_PROVISIONERD_TAGS: 'a="b"' },
      credential: {},
      because: 'Go refuses a quote in a field without quotes',
    },
  ])('are read as coder reads them: $because', ({ variables, credential }) => {
    expect(readCredential(variables)).toEqual(credential);
  });

  it('that the stack writes give the daemon its tags, and the scope but not the owner', () => {
    const text = fc.string({ unit: 'binary' }).filter((it) => !/[\0\r\n]/.test(it));
    const name = text.filter((it) => it !== '' && !it.includes('='));
    const anyTags = fc.dictionary(name, text, { noNullPrototype: true });
    fc.assert(
      fc.property(anyTags, (tags) => {
        const written = daemonVariables({
          auth: { kind: 'token', secret },
          organization: 'data',
          tags: { ...tags, scope: 'user', owner: 'me' },
        });
        const { owner: _, ...sent } = tags;
        expect(readCredential({ ...written, CODER_SESSION_TOKEN: 't' })).toEqual({
          token: 't',
          organization: 'data',
          tags: { ...sent, scope: 'user' },
        });
      }),
    );
  });

  it('that the stack writes are none for a key', () => {
    const of = { organization: 'data', tags: { a: '1' } };
    expect(daemonVariables({ ...of, auth: { kind: 'key', secret } })).toEqual({});
    expect(daemonVariables({ ...of, auth: { kind: 'managed' } })).toEqual({});
    expect(daemonVariables({ ...of, auth: { kind: 'psk', secret } })).toEqual({
      CODER_PROVISIONERD_TAGS: 'a=1',
    });
    expect(daemonVariables({ ...of, tags: {}, auth: { kind: 'psk', secret } })).toEqual({});
  });
});
