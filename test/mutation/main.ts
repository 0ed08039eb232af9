/**
 * `npm run mutation`: changes a sample of the product's code, one place at a time, and counts how many of the changes
 * the tests notice. The exit code is 1 if a room is below its goal by more than chance explains.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Table from 'cli-table3';
import { Command, Option } from 'commander';
import { wholeNumber } from '../../lab/world/base/whole-number.ts';
import { whyEquivalent } from './equivalent.ts';
import { isNoticed, type Outcome } from './outcome.ts';
import { ROOMS, type Room } from './rooms.ts';
import { mutateShell } from './shell-room.ts';
import { mutateTypeScript } from './stryker-room.ts';

const command = new Command('mutation')
  .description('change a sample of the code, and count the changes that tests notice')
  .addOption(new Option('--room <names...>', 'only these rooms').choices(ROOMS.map(({ name }) => name)))
  .option('--seed <number>', 'seed of the sample', wholeNumber, Math.floor(Date.now() / 86_400_000))
  .option('--mutants <number>', 'how many for each room', wholeNumber, 60)
  .parse();
const {
  room: names,
  seed,
  mutants: count,
} = command.opts<{ room?: string[]; seed: number; mutants: number }>();

const table = new Table({
  head: ['room', 'noticed', 'mutants', 'equivalent', 'share', 'goal', 'minutes'],
  style: { head: [], border: [], compact: true },
});
for (const room of ROOMS.filter(({ name }) => names?.includes(name) ?? true)) {
  const startedAt = Date.now();
  const all = await mutate(room);
  const stay = all.filter((each) => !isNoticed(each) && whyEquivalent(each) !== undefined);
  const counted = all.length - stay.length;
  const noticed = all.filter(isNoticed).length;
  const share = noticed / counted;
  const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
  table.push([room.name, noticed, all.length, stay.length, percent(share), `${room.goal} %`, minutes]);
  if (isBelow(share, counted, room.goal / 100)) process.exitCode = 1;
  console.log(`${room.name}, seed ${seed}: ${noticed} of ${all.length} noticed. Not noticed:`);
  for (const each of all.filter((one) => !isNoticed(one))) {
    const why = whyEquivalent(each);
    const change = each.change.replaceAll(/\s+/g, ' ');
    console.log(`  ${each.place}  ${change}${why === undefined ? '' : `  (equivalent: ${why})`}`);
  }
}
console.log(`Seed ${seed}\n${table.toString()}`);

async function mutate(room: Room): Promise<readonly Outcome[]> {
  const folder = join('dist/mutation', room.name);
  const sample = { count, seed, folder };
  try {
    return await (room.name === 'guard' ? mutateShell(room, sample) : mutateTypeScript(room, sample));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Two standard deviations of a sample that meets the goal. */
function isBelow(share: number, size: number, goal: number): boolean {
  return share < goal - 2 * Math.sqrt((goal * (1 - goal)) / size);
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
