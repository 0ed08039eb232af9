/** Advice for settings of earlier versions, and for common wrong values. */
import { ownValue } from '../../decision/model/collections.ts';
import { type Path, shown } from './shown.ts';

const FOLLOWS_PERSON = "no longer exists; write the pool's waiting.person: its other prices follow it";

/** Names that are no settings, or no longer, by their path with positions in lists left out. */
const MEANT: Readonly<Record<string, string>> = {
  'waiting.stop': 'no longer exists; remove it. It is a hundredth of waiting.person',
  ...ended('pools[].waiting', ['autostart', 'prebuild', 'stop'], FOLLOWS_PERSON),
  'coder.prebuildsFailureHardLimit':
    'no longer exists; remove it. coderd itself tells template admins of a preset whose prebuilds fail',
  'pools[].whenBlind': 'no longer exists; write min. min holds while the autoscaler cannot read coderd, too',
  'pools[].prebuilds':
    'no longer exists; remove it. Prebuilds launch up to 4/5 of max; if only prebuilds use the pool, write a max that is a quarter higher',
  'pools[].prewarm':
    'no longer exists; remove it. Each scheduled start gets a daemon, up to max; with waiting.autostart: 0 one daemon serves all',
  'pools[].schedules[].except':
    'no longer exists; remove it. On such a day the schedule keeps daemons that nobody needs, or pin the pool',
  'aws.function.tracing': 'no longer exists; remove it. The log event of each look has calls and durations',
  'aws.function.reservedConcurrency': 'no longer exists; remove it. Looks may overlap',
  'pools[].spotBase':
    'no longer exists; write capacity: [spot, on-demand], which fails over, or make two pools',
  'pools[].prometheusPort':
    'no longer exists; write environment: { CODER_PROMETHEUS_ENABLE: "true", CODER_PROMETHEUS_ADDRESS: "0.0.0.0:2112" }',
  'pools[].readonlyRootFilesystem':
    'no longer exists; remove it. The container does not run as root: it can write the same folders',
  'pools[].taskRole.statements':
    'no longer exists; write policies, with the ARN of a managed policy that has these statements',
  'aws.dashboard':
    'no longer exists; remove it. autoscaler watch shows the deployment, and metrics and saved queries its past',
  'pools[].key.managed': 'unknown setting; for a key that the stack creates and rotates, write key: managed',
  'pools[].key.key':
    'unknown setting; store the key in AWS Secrets Manager and write secret: <its name or ARN>',
  'pools[].psk.managed':
    'unknown setting; only provisioner keys can be managed; write key: managed instead of psk',
  'pools[].token.managed':
    'unknown setting; only provisioner keys can be managed; write key: managed instead of token',
};

const GUARDED = 'has ended; every pool has the guard. Its image needs sh and curl: docs/upgrade.md';

const INSTEAD: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'pools[].min': {
    auto: 'remove min; it is then 0 if wake is on and the autoscaler can read the forecast, otherwise 1',
  },
  'pools[].key': {
    auto: 'write managed',
    true: 'write managed',
  },
  'pools[].wake': {
    'a mapping': 'write true, or false to start for jobs only. Stops and deletions may be 10 minutes late',
  },
  'pools[].scaleIn': { confirm: `confirm ${GUARDED}`, never: `never ${GUARDED}` },
  'pools[].warm': {
    on: 'write auto',
    yes: 'write auto',
    true: 'write auto',
    off: 'write 0',
    no: 'write 0',
    none: 'write 0',
    false: 'write 0',
  },
};

function ended(parent: string, names: readonly string[], instead: string): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [`${parent}.${name}`, instead]));
}

/** What to do about a name that is no setting here, if that is clear. */
export function meantBy(path: Path): string | undefined {
  return ownValue(MEANT, pattern(path));
}

/** What to write instead of a value that is wrong here, if that is clear. */
export function insteadOf(path: Path, seen: unknown): string | undefined {
  const words = ownValue(INSTEAD, pattern(path)) ?? {};
  const word = typeof seen === 'object' ? shown(seen, path) : String(seen).toLowerCase();
  return ownValue(words, word);
}

/** Such as `pools[].prewarm.max`. */
function pattern(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? '[]' : `.${step}`))
    .join('')
    .replace(/^\./, '');
}
