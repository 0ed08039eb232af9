/** How an error ends a command: in sentences, without a stack, with control characters made visible. */
import { expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { sidesText } from '../../cli/setup/screen.ts';
import type { Situation } from '../../cli/setup/situation.ts';
import { CoderdError } from '../../lambda/adapters/coderd/http/http.ts';
import { START } from '../support/lab.ts';

async function endedBy(thrown: unknown): Promise<{ readonly code: number; readonly err: string }> {
  let err = '';
  const out = (): void => {
    throw thrown;
  };
  const write = (text: string): void => {
    err += text;
  };
  const code = await runCli(['validate', '--schema'], { environment: {}, now: () => START, out, err: write });
  return { code, err };
}

it.each([
  {
    of: 'coderd',
    thrown: new CoderdError('unauthorized', 'reading x: coderd answered 401: \u001b[31mno\n::error::y'),
    err: 'error: reading x: coderd answered 401: \\u001b[31mno\\u000a::error::y\n',
  },
  {
    of: 'a full disk',
    thrown: Object.assign(new Error('ENOSPC: no space left on device, write'), { syscall: 'write' }),
    err: 'error: ENOSPC: no space left on device, write\n',
  },
  { of: 'no error at all', thrown: 'a\r\nb', err: 'error: a\\u000d\\u000ab\n' },
])('says what went wrong in one line, and shows no stack: $of', async ({ thrown, err }) => {
  expect(await endedBy(thrown)).toEqual({ code: 1, err });
});

it('names the place in the code for an error that no command expects', async () => {
  const { code, err } = await endedBy(new TypeError('x is not a function\u0007'));
  expect(code).toBe(1);
  expect(err).toMatch(
    /^error: TypeError: x is not a function\\u0007 \([^\n]*errors\.test\.ts:\d+:\d+\)\. This is an error of the command itself: report this line\n$/,
  );
});

it('prints who is signed in on a line each, whatever the version of coderd is', () => {
  const value = { url: 'https://coder.example.com', version: 'v2.30.0\n[1/9] done', user: 'ada' };
  const situation = { coder: { value }, aws: { problem: 'no credentials' } } as unknown as Situation;
  expect(sidesText(situation)).toBe(
    'Coder:  https://coder.example.com, v2.30.0\\u000a[1/9] done, as ada\nAWS:    no credentials\n\n',
  );
});
