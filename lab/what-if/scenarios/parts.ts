/** Templates and groups of several scenarios. Durations and shares are assumptions (docs/backtest.md). */
import type { PeopleGroup, Template } from '../trace/generate/scenario.ts';

const AT_NINE = 540;

/** Containers in an existing cluster: about one minute. */
export const CONTAINER_TEMPLATE = {
  tags: {},
  start: { p50: 65, p95: 140 },
  stop: { p50: 24, p95: 50 },
  import: { p50: 20, p95: 45 },
  ttlHours: 8,
  pushesPerWeek: 8,
} as const satisfies Partial<Template>;

/** Virtual machines, which are created and boot. */
export const MACHINE_TEMPLATE = {
  tags: {},
  start: { p50: 90, p95: 210 },
  stop: { p50: 32, p95: 75 },
  import: { p50: 25, p95: 55 },
  ttlHours: 9,
  pushesPerWeek: 5,
} as const satisfies Partial<Template>;

/** Terraform plans with thousands of resources. */
export const LARGE_TEMPLATE = {
  tags: { size: 'large' },
  start: { p50: 210, p95: 480 },
  stop: { p50: 80, p95: 200 },
  import: { p50: 50, p95: 120 },
  ttlHours: 10,
  pushesPerWeek: 3,
} as const satisfies Partial<Template>;

/** A claim changes owner and name, and creates almost no resources. */
export const CLAIM = { p50: 16, p95: 34 } as const;

const EVERYWHERE = ['01-01', '12-25'] as const;

/** People in Berlin. Holidays: those with a fixed date, and the other national holidays of 2026. */
export const IN_BERLIN = {
  timezone: 'Europe/Berlin',
  arrivalMinute: AT_NINE,
  holidays: [
    ...EVERYWHERE,
    '05-01',
    '10-03',
    '12-26',
    '2026-04-03',
    '2026-04-06',
    '2026-05-14',
    '2026-05-25',
  ],
} as const satisfies Partial<PeopleGroup>;

/** People in New York. Holidays: federal holidays of 2026 on which offices close. */
export const IN_NEW_YORK = {
  timezone: 'America/New_York',
  arrivalMinute: AT_NINE,
  holidays: [...EVERYWHERE, '07-04', '2026-01-19', '2026-05-25', '2026-07-03', '2026-09-07', '2026-11-26'],
} as const satisfies Partial<PeopleGroup>;

/** People in Bengaluru, who come a little later. Holidays: the three national ones. */
export const IN_BENGALURU = {
  timezone: 'Asia/Kolkata',
  arrivalMinute: 585,
  holidays: [...EVERYWHERE, '01-26', '08-15', '10-02'],
} as const satisfies Partial<PeopleGroup>;
