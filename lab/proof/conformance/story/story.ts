/** Plays a fixed story. What the product depends on is read raw and through the product's adapters. */
import type { Transcript } from '../../../../cli/doctor/answers/recordings.ts';
import { CoderdAdapter } from '../../../../lambda/adapters/coderd/coderd.ts';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { ConformanceError } from '../stage/question.ts';
import type { Stage } from '../stage/stage.ts';
import { Recorder } from '../stage/transcript.ts';
import { playAutostarts } from './story-autostarts.ts';
import { playBuilds } from './story-builds.ts';
import { playImports } from './story-imports.ts';
import { playRefusals } from './story-refusals.ts';
import { playTagTable } from './story-tags.ts';

/** Plays all chapters. @throws ConformanceError when an expected result does not come */
export async function playStory(stage: Stage): Promise<Transcript['entries']> {
  const recorder = new Recorder(stage);
  await playUsers(stage, recorder);
  await playRefusals(recorder);
  await playImports(stage, recorder);
  await playTagTable(stage, recorder);
  await playBuilds(stage, recorder);
  await playAutostarts(stage, recorder);
  await playReadings(stage, recorder);
  return recorder.entries;
}

async function playUsers(stage: Stage, recorder: Recorder): Promise<void> {
  await recorder.asks('the build info', { path: '/buildinfo', as: 'nobody' });
  await stage.addUser({ name: 'reader', role: 'organization-template-admin', status: 'active' });
  await stage.addUser({ name: 'mia', role: 'member', status: 'active' });
  await stage.addUser({ name: 'tessa', role: 'template-admin', status: 'active' });
  await stage.addUser({ name: 'ann', role: 'member', status: 'active' });
  await stage.addUser({ name: 'ben', role: 'member', status: 'dormant' });
  await stage.addUser({ name: 'cyd', role: 'member', status: 'suspended' });
  await recorder.asks('the organizations', { path: '/organizations', as: 'reader' });
  await recorder.asks('the reader itself', { path: '/users/me', as: 'reader' });
  await recorder.asks("the reader's token", { path: '/users/me/keys/{key of reader}', as: 'reader' });
  await recorder.asks('members', { path: '/organizations/{organization}/members', as: 'reader' });
  await recorder.asks('members, as a member', { path: '/organizations/{organization}/members', as: 'mia' });
  await recorder.asks('the licence', { path: '/entitlements', as: 'reader' });
}

async function playReadings(stage: Stage, recorder: Recorder): Promise<void> {
  const http = stage.http('reader');
  try {
    const coderd = new CoderdAdapter(http);
    const build = (await coderd.buildInfo()).items[0];
    const [organization] = (await coderd.organizations()).items;
    if (organization === undefined)
      throw new ConformanceError('playing the story: the user "reader" sees no organization');
    const jobs = await coderd.jobs(organization, build);
    const daemons = await coderd.daemons(organization, build);
    const forecasts = await coderd.forecast([organization], { now: stage.now(), refreshMs: 0, build });
    const ids = jobs.items.map(({ id }) => id);
    recorder.finds('the product reads jobs', withIsoTimes(jobs));
    recorder.finds('the product reads jobs by id', withIsoTimes(await coderd.jobsByIds(organization, ids)));
    recorder.finds('the product reads daemons', withIsoTimes(daemons));
    const forecast = forecasts.get(organization.id);
    recorder.finds('the product reads workspaces', withIsoTimes(forecast?.workspaces));
    recorder.finds('the product reads templates', withIsoTimes(forecast?.templates));
    recorder.finds('the product reads tags of active versions', forecast?.activeVersionTags);
    recorder.finds('the product reads members', withIsoTimes(forecast?.members));
    recorder.finds('the product reads offline daemons', withIsoTimes(forecast?.offlineDaemons));
  } finally {
    await http.close();
  }
}

/** The reading with times as coderd writes them, and without how long its answers took. */
function withIsoTimes(reading: unknown): unknown {
  return JSON.parse(JSON.stringify(reading ?? null), (key, value: unknown) => {
    if (key === 'tookMs') return undefined;
    const isTime = typeof value === 'number' && value > 1e12 && /(?:_at|At|deadline)$/.test(key);
    return isTime ? new Date(value as EpochMs).toISOString() : value;
  });
}
