/** Which credentials of coderd setup takes. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findSession } from '../../../cli/setup/coder-side.ts';
import { ownFolder } from '../../support/own-folder.ts';

const folder = ownFolder();
const [login, empty] = ['login', 'empty'].map((name) => join(folder, name)) as [string, string];
for (const each of [login, empty]) mkdirSync(each, { recursive: true });
writeFileSync(join(login, 'url'), 'https://coder.example.com\n');
writeFileSync(join(login, 'session'), 'id-of-login\n');

const OWN = 'https://coder.example.com';
const OTHER = 'https://other.example.com';

it.each([
  {
    because: 'the command is signed in',
    url: undefined,
    env: { CODER_CONFIG_DIR: login },
    is: [OWN, 'id-of-login'],
  },
  {
    because: 'a slash is no other URL',
    url: `${OWN}/`,
    env: { CODER_CONFIG_DIR: login },
    is: [OWN, 'id-of-login'],
  },
  {
    because: 'variables come first',
    url: undefined,
    env: { CODER_CONFIG_DIR: login, CODER_URL: OTHER, CODER_SESSION_TOKEN: 'id-of-shell' },
    is: [OTHER, 'id-of-shell'],
  },
])('finds a session: $because', ({ url, env, is }) => {
  const found = findSession(url, env);
  expect('value' in found && [found.value.url, found.value.token.reveal()]).toEqual(is);
});

it.each([
  {
    because: 'nothing is known',
    url: undefined,
    env: {},
    says: /^no URL of coderd is known\. Run: coder login/,
  },
  {
    because: 'no token is there',
    url: OWN,
    env: {},
    says: /^nobody is signed in to https:\/\/coder\.example\.com\..*\$\(coder tokens create --lifetime 8h\)/,
  },
  {
    because: 'the token of another coderd never travels',
    url: OTHER,
    env: { CODER_CONFIG_DIR: login },
    says: /^nobody is signed in to https:\/\/other/,
  },
  {
    because: 'a token never travels over plain http',
    url: undefined,
    env: { CODER_URL: 'http://coder.example.com', CODER_SESSION_TOKEN: 'id-of-shell' },
    says: /^CODER_URL is plain http, .*; write https:\/\/coder\.example\.com /,
  },
  {
    because: 'the address of a page is no URL of coderd',
    url: `${OWN}/workspaces`,
    env: { CODER_CONFIG_DIR: login },
    says: /^--url contains a path; write https:\/\/coder\.example\.com$/,
  },
])('says what to do: $because', ({ url, env, says }) => {
  expect(findSession(url, { CODER_CONFIG_DIR: empty, ...env })).toEqual({
    problem: expect.stringMatching(says),
  });
});
