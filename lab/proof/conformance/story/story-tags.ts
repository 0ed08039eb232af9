/** Plays Coder's table of which daemon fits which job, with the filter of the list and with real jobs. */
import { readFileSync } from 'node:fs';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import type { Stage } from '../stage/stage.ts';
import type { Recorder } from '../stage/transcript.ts';
import { job, read, untilSettled } from './reading.ts';

type Row = { readonly provisioner: Tags; readonly job: Tags; readonly same_org: boolean };

/** Daemons inside coderd get this owner, whatever owner they ask for. */
const NIL_OWNER = '00000000-0000-0000-0000-000000000000';

export async function playTagTable(stage: Stage, recorder: Recorder): Promise<void> {
  const rows = tableRows();
  const byTags = Map.groupBy(rows, ({ provisioner }) => JSON.stringify(provisioner));
  let [number, jobs] = [0, 0];
  for (const [text, group] of byTags) {
    const name = `table-${++number}`;
    const tags = JSON.parse(text) as Tags;
    await stage.startDaemon(name, tags);
    for (const row of group) {
      const { status, body } = await stage.ask(read.daemons({ tags: JSON.stringify(row.job), limit: '0' }));
      const names = Array.isArray(body) ? body.map((daemon: { readonly name: string }) => daemon.name) : [];
      recorder.finds(`daemon ${text} is found for ${JSON.stringify(row.job)}`, {
        status,
        isFound: names.includes(name),
      });
    }
    const tried = tags.scope === 'user' ? [] : group.filter(({ job: { scope } }) => scope !== 'user');
    for (const { job: wanted } of tried)
      await tryJob({ stage, recorder, number: ++jobs }, { daemon: tags, wanted });
    await stage.stopDaemon(name, 'terminate');
  }
}

/** Tests whether the daemon takes a job with these tags before a job that it certainly takes. */
async function tryJob(
  given: { readonly stage: Stage; readonly recorder: Recorder; readonly number: number },
  { daemon, wanted }: { readonly daemon: Tags; readonly wanted: Tags },
): Promise<void> {
  const { stage, recorder, number } = given;
  const step = `daemon ${JSON.stringify(daemon)} runs a job with ${JSON.stringify(wanted)}`;
  const [first, certain] = [`tried-${number}`, `certain-${number}`];
  await stage.importVersion({ name: first, tags: wanted });
  await stage.importVersion({ name: certain, tags: daemon });
  await untilSettled(stage, `import of ${certain}`);
  recorder.finds(step, (await job(stage, `import of ${first}`))?.status);
  await stage.cancelImport(first);
}

/** The rows of one organization: the public API does not show daemons of other organizations. */
function tableRows(): readonly Row[] {
  const file = new URL('tag-matching.json', import.meta.url);
  const { rows } = JSON.parse(readFileSync(file, 'utf8')) as { readonly rows: readonly Row[] };
  return rows
    .filter(({ same_org }) => same_org)
    .map((row) => ({ ...row, provisioner: owned(row.provisioner), job: owned(row.job) }));
}

/** The tags with the owner of daemons instead of the table's `aaa`. */
function owned(tags: Tags): Tags {
  return tags.owner === 'aaa' ? { ...tags, owner: NIL_OWNER } : tags;
}
