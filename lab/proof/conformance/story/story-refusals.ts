/** Plays what coderd refuses, to record its error texts: users without rights, and invalid requests. */
import { CHECKS } from '../../../../cli/doctor/answers/read-only-steps.ts';
import type { Question } from '../stage/question.ts';
import type { Recorder } from '../stage/transcript.ts';

const JOBS = '/organizations/{organization}/provisionerjobs';
const DAEMONS = '/organizations/{organization}/provisionerdaemons';
const MEMBERS = '/organizations/{organization}/members';
const NOWHERE = '00000000-0000-4000-8000-000000000000';

/** The users who read each path of `READ`. */
const READERS = ['reader', 'mia', 'tessa', 'cyd', 'nobody', 'abcdefghij-abcdefghijklmnopqrstuv', 'wrong'];
const READ = [JOBS, DAEMONS, '/workspaces', '/templates', '/users/me'];

const BAD_QUERIES: readonly (readonly [path: string, ...query: (readonly [string, string])[]])[] = [
  [JOBS, ['limit', '-1']],
  [JOBS, ['limit', 'many']],
  [JOBS, ['limit', '2147483648']],
  [JOBS, ['limit', '1'], ['limit', '2']],
  [JOBS, ['status', 'nonsense']],
  [JOBS, ['status', 'pending,nonsense']],
  [JOBS, ['offset', '1']],
  [JOBS, ['ids', 'nope']],
  [JOBS, ['tags', 'nope']],
  [JOBS, ['tags', '{"a":1}']],
  [JOBS, ['initiator', 'nope']],
  [JOBS, ['initiator', NOWHERE]],
  [JOBS, ['limit', '-1'], ['ids', 'nope'], ['what', 'ever']],
  [DAEMONS, ['limit', '-1']],
  [DAEMONS, ['what', 'ever']],
  [DAEMONS, ['ids', 'nope']],
  [DAEMONS, ['tags', 'nope']],
  [DAEMONS, ['offline', 'maybe']],
  [DAEMONS, ['status', 'nonsense']],
  [DAEMONS, ['max_age', 'soon']],
  [DAEMONS, ['max_age', '-1h']],
  [DAEMONS, ['max_age', '1h30m']],
  ['/workspaces', ['limit', '-1']],
  ['/workspaces', ['offset', 'x']],
  ['/workspaces', ['after_id', 'nope']],
  ['/workspaces', ['q', 'bogus:1']],
  ['/workspaces', ['what', 'ever']],
  ['/templates', ['q', 'bogus:1']],
  ['/templates', ['q', 'deprecated:true']],
  ['/templates', ['q', 'deprecated:false']],
  ['/templates', ['q', 'deprecated:maybe']],
];

const ODD_PATHS: readonly string[] = [
  `/organizations/${NOWHERE}/provisionerjobs`,
  '/organizations/nope/provisionerjobs',
  '/organizations/default/provisionerjobs',
  '/organizations/coder/provisionerjobs',
  `/organizations/${NOWHERE}/provisionerdaemons`,
  `${JOBS}/${NOWHERE}`,
  `${JOBS}/nope`,
  '/organizations/{organization}/provisionerjob',
  '/nowhere',
  `/templateversions/${NOWHERE}`,
  '/templateversions/nope',
  `/workspaces/${NOWHERE}/builds`,
  '/workspaces/nope/builds',
  `/users/me/keys/${NOWHERE}`,
];

export async function playRefusals(recorder: Recorder): Promise<void> {
  for (const as of READERS)
    for (const path of READ) await recorder.asks(`${nameOf(path)} as ${as}`, { path, as });
  for (const [path, ...query] of BAD_QUERIES) {
    const text = query.map((pair) => pair.join('=')).join('&');
    await recorder.asks(`${nameOf(path)}?${text}`, { path, query, as: 'reader' });
  }
  await recorder.asks('members?what=ever', { path: MEMBERS, query: { what: 'ever' }, as: 'reader' });
  for (const path of ODD_PATHS) await recorder.asks(path, { path, as: 'reader' });
  for (const [name, as, body] of CHECKS)
    await recorder.asks(`authorization check ${name}`, { method: 'POST', path: '/authcheck', body, as });
  const wrongMethod: Question = { method: 'POST', path: JOBS, body: {}, as: 'reader' };
  await recorder.asks('a job posted to the list', wrongMethod);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
