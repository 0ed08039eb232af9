/** Words the findings about prebuilt workspaces: what is wrong, the consequence, and what to do. */
import type { FindingOf } from '../decision/model/plan.ts';
import { some, tagText, timeText } from './format.ts';

type Failing = FindingOf<'prebuilds-failing' | 'prebuilds-stopped'>;
type PrebuildsWaiting = FindingOf<'prebuilds-waiting'>;

/** A preset whose prebuilds fail, or of which coderd makes no more. */
export function failingPresetText(finding: Failing): string {
  const { organization, template, preset, failed } = finding;
  // an admin of templates writes the name, and it may contain any character
  const where = `organization "${organization}", template "${template}", preset ${JSON.stringify(preset)}`;
  return `${where}: the newest ${some(failed, 'prebuild')} failed${consequence(finding)}. ${remedy(finding)}`;
}

function consequence({ code, failed, limit }: Failing): string {
  if (limit === null) return '. coderd tries again, and waits longer after each failure';
  if (code === 'prebuilds-stopped') return `, so coderd makes no more of them (its limit is ${limit})`;
  if (failed >= limit) return '. The next one has begun. If it fails too, coderd makes no more of them';
  return `. coderd makes no more of them once the newest ${limit} have failed`;
}

function remedy(finding: Failing): string {
  const { code, failed, reaped, workspace, newest } = finding;
  const retry = code === 'prebuilds-stopped' ? 'delete the failed prebuilds, and coderd tries again' : '';
  if (reaped === failed) {
    const raise = `No daemon took their jobs within 30 min. Raise prebuilds.maxTasks or max of the pool that runs them`;
    return retry === '' ? raise : `${raise}. Then ${retry}`;
  }
  const missed = reaped === 0 ? '' : `No daemon took ${reaped} of their jobs within 30 min. `;
  const read = `Read the build log of prebuilds/${workspace} of ${timeText(newest)}, and activate a fixed version of the template`;
  return `${missed}${read}${retry === '' ? '' : `. If the template is not the cause, ${retry}`}`;
}

/** Prebuilds that coderd fails before a daemon takes them. */
export function prebuildsWaitingText(finding: PrebuildsWaiting): string {
  const { organization, tags, jobs, late, failsAt, pool } = finding;
  const where = `organization "${organization}", tags ${tagText(tags)}`;
  const wait = `${some(jobs, 'prebuild')} ${jobs === 1 ? 'waits' : 'wait'} for pool "${pool}"`;
  const fail = `At this rate coderd fails ${late} of them from ${timeText(failsAt)} on, because no daemon takes them within 30 min`;
  return `${where}: ${wait}. ${fail}. ${wayOut(finding)}`;
}

function wayOut({ limits, pool }: PrebuildsWaiting): string {
  const [first] = limits;
  switch (first) {
    case 'paused':
      return `Run \`autoscaler resume ${pool}\``;
    case 'pinned':
      return `Run \`autoscaler unpin ${pool}\``;
    case 'starts-failing':
    case 'placement-failing':
      return 'See the finding about the tasks of this pool';
    default:
      return `Raise ${limits.length === 0 ? 'max' : limits.map((code) => SETTINGS[code] ?? code).join(' and ')}, or let the presets keep fewer prebuilds`;
  }
}

const SETTINGS: { readonly [Code in PrebuildsWaiting['limits'][number]]?: string } = {
  'capped-at-prebuilds-max-tasks': 'prebuilds.maxTasks',
  'capped-at-max': 'max',
  'capped-at-max-tasks': 'limits.maxTasks',
  'capped-at-dollars-per-hour': 'limits.dollarsPerHour',
};
