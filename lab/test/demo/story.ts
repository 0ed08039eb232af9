/** Compares the output of the demo with what its story causes (lab/demo/scenario.ts). */

const STORY: readonly RegExp[] = [
  /^09:00:00 {2}5 workspaces of pool web start by schedule at 09:03; nobody submits a job for them$/,
  /^09:00:00 {2}the stack is synthesized with CDK, as cdk deploy does it$/,
  /^09:00:00 {2}each task runs the real guard\.sh as a process\. The guards log to dist\/demo\/guards\.log$/,
  /^09:00:10 {2}a template push: 2 jobs submitted$/,
  /^09:00:20 {2}an unschedulable job: 1 job submitted$/,
  /^09:00:40 {2}a burst: thirty people start work: 30 jobs submitted$/,
  /^09:00:55 {2}GPU workspaces in any region \(gpu or gpu-eu, whichever is free first\): 5 jobs submitted$/,
  /^09:01:00 {2}GPU workspaces in Europe: 3 jobs submitted$/,
  /^09:01:10 {2}data workspaces: 5 jobs submitted$/,
  /^09:01:30 {2}prebuilt workspaces: 8 jobs submitted$/,
  /^09:01:55 {2}pool gpu: revision 2 with a new image is deployed; old tasks finish their builds first$/,
  /^09:02:20 {2}more GPU workspaces: 4 jobs submitted$/,
  /^09:03:00 {2}coderd starts 5 workspaces of pool web by schedule$/,
  /^09:0[2-7]:\d\d {2}pool gpu: all tasks run revision 2, the deployment is complete$/,
  /^$/,
  /^builds: 62 of 62 succeeded, 0 killed$/,
  /^a service that lowers its count without protection would have killed (\d+|none) of these builds \(.*\)$/,
  /^1 more job waited in vain, as the story meant: no pool has its tags$/,
  /^tasks cost \$0\.\d\d; a fixed fleet of \d+ had cost \$0\.\d\d$/,
  /^tasks: \d+ at the peak, 0 at the end; deployments: 1 of 1 completed$/,
  /^autostarts from zero: coderd started 5 of 5 workspaces$/,
  /^guards: (\d+) processes of the real guard\.sh started, \1 exited by themselves$/,
  /^wait: p50 [\d.]+ s, p95 [\d.]+ s of simulated time; the demo took \d+ s$/,
  /^next: npm run try, which keeps a deployment running for \.\/autoscaler plan, status and doctor$/,
];

type Cause = {
  readonly sentence: RegExp;
  /** The pools that it concerns, and from when until when. @default all pools, always */
  readonly pools?: readonly string[];
  readonly from?: string;
  readonly until?: string;
};

/** The sentences of a change, and the part of the story that causes them. */
const CAUSES: readonly Cause[] = [
  // each pool gets its jobs
  { sentence: /^\d+ pending jobs? needs? a new task$/, pools: ['default'], from: '09:00:10' },
  { sentence: /^\d+ pending jobs? needs? a new task$/, pools: ['gpu', 'gpu-eu'], from: '09:00:55' },
  { sentence: /^\d+ pending jobs? needs? a new task$/, pools: ['data'], from: '09:01:10' },
  { sentence: /^(starting|free) daemons will take \d+ pending jobs?$/, from: '09:00:15' },
  // the burst and the prebuilds are more than the pool may have
  { sentence: /^needs \d+ tasks, limited to 20 by max$/, pools: ['default'], from: '09:00:40' },
  {
    sentence: /^8 prebuilds on hold: launches for prebuilds stop at 16 tasks \(prebuilds\.maxTasks\)$/,
    pools: ['default'],
    from: '09:01:30',
  },
  // the new image
  { sentence: /^\d tasks? of an old revision: .*$/, pools: ['gpu'], from: '09:01:55', until: '09:05:00' },
  {
    sentence: /^idle daemons stay and the desired count does not fall while a deployment is in progress$/,
    pools: ['gpu'],
    from: '09:01:55',
    until: '09:05:00',
  },
  // the autostarts
  {
    sentence: /^needs a daemon for 5 autostarts from 2 March 2026 09:03:00 UTC on$/,
    pools: ['web'],
    until: '09:03:00',
  },
  {
    sentence: /^prepares 5 daemons for 5 jobs that coderd is about to create$/,
    pools: ['web'],
    until: '09:03:00',
  },
  // the builds end
  { sentence: /^draining \d+ idle daemons?$/, from: '09:01:30' },
  { sentence: /^\d+ idle daemons? will drain after idleTimeout$/, from: '09:01:30' },
  { sentence: /^\d+ tasks? (has|have) drained$/, from: '09:02:00' },
  {
    sentence: /^the desired count includes \d leaving tasks? until ECS has stopped (it|them)$/,
    from: '09:02:00',
  },
];

/** The lines and sentences of an output that the story does not cause. */
export function unexplained(output: string): readonly string[] {
  return output
    .trimEnd()
    .split('\n')
    .filter((line) => !STORY.some((known) => known.test(line)))
    .flatMap(unexplainedIn);
}

const CHANGE = /^(\d\d:\d\d:\d\d) {2}[-+~] (\S+) (?:\d+ -> \d+|drains \d+ tasks?|, )+: (.*)$/;

function unexplainedIn(line: string): readonly string[] {
  const [, time = '', pool = '', why] = CHANGE.exec(line) ?? [];
  if (why === undefined) return [line];
  return why
    .split('; ')
    .filter((sentence) => !CAUSES.some((cause) => fits(cause, { sentence, time, pool })))
    .map((sentence) => `${time} ${pool}: ${sentence}`);
}

type Told = { readonly sentence: string; readonly time: string; readonly pool: string };

function fits({ sentence, pools, from = '', until = '~' }: Cause, told: Told): boolean {
  return (
    sentence.test(told.sentence) &&
    (pools?.includes(told.pool) ?? true) &&
    from <= told.time &&
    told.time <= until
  );
}
