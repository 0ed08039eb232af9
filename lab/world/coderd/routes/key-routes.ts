/**
 * The routes of provisioner keys (docs/internals/coder.md §3; enterprise/coderd/provisionerkeys.go). Without the
 * right, coderd answers as if a key did not exist, or as if it had failed itself.
 */
import { z } from 'zod';
import { parseQuietly } from '../../../../lambda/decision/model/parse-quietly.ts';
import { mapping } from '../../../../lambda/shared/mapping.ts';
import type { CoderdModel } from '../model.ts';
import { rfc3339 } from '../queries/times.ts';
import { CoderdRefusal } from '../rules/refusal.ts';
import { isReserved, type ProvisionerKey, SECRET_LENGTH } from '../tables/keys.ts';
import { holds, type KeyAction } from '../tables/tokens.ts';
import { type Answer, NOT_FOUND, type OrganizationRequest } from './request.ts';

type Handle = (request: OrganizationRequest) => Answer;

/** RequireFeatureMW. */
function licensed(handle: Handle): Handle {
  return (request) => (request.model.isLicensed ? handle(request) : NOT_LICENSED);
}

export const createKey: Handle = licensed(create);
export const listKeys: Handle = licensed(list);
export const deleteKey: Handle = licensed(remove);

const NOT_LICENSED: Answer = {
  status: 403,
  body: { message: 'External Provisioner Daemons is a Premium feature. Contact sales!' },
};

const creation = z.object({
  name: z.string().default(''),
  tags: mapping(z.string(), z.string()).nullish(),
});

function create(request: OrganizationRequest): Answer {
  const { model, organization, body } = request;
  const asked = creation.safeParse(parseQuietly(body));
  if (!asked.success) return { status: 400, body: { message: 'Request body must be valid JSON.' } };
  if (!may(request, 'create')) return internal('unauthorized: rbac: forbidden');
  const { name, tags } = asked.data;
  try {
    const key = model.addKey({ organization: organization.name, name, tags: tags ?? {} });
    return { status: 201, body: { key } };
  } catch (cause) {
    return refused(cause);
  }
}

function refused(cause: unknown): Answer {
  if (!(cause instanceof CoderdRefusal)) throw cause;
  const { status, message, field } = cause;
  if (status === 500) return internal(message);
  const validations = field === undefined ? {} : { validations: [{ field, detail: message }] };
  return { status, body: { message, ...validations } };
}

/** Rows that the user may not read are left out, with 200. */
function list(request: OrganizationRequest): Answer {
  const { model, organization } = request;
  const keys = may(request, 'read') ? model.keys.list(organization.id) : [];
  return { status: 200, body: keys.map(keyAnswer) };
}

function remove(request: OrganizationRequest): Answer {
  const { model, organization, ids } = request;
  const name = parameterOf(ids[0] ?? '');
  if (organization.isDefault && isReserved(name))
    return {
      status: 400,
      body: { message: `Cannot delete reserved '${name.toLowerCase()}' provisioner key` },
    };
  const key = model.keys.find(organization.id, name);
  if (key === undefined || !may(request, 'read')) return NOT_FOUND;
  if (!may(request, 'delete')) return internal('unauthorized: rbac: forbidden');
  model.deleteKey(organization.name, key.name);
  return { status: 204, body: undefined };
}

/** coderd does not decode a part of a path that Go would not have encoded, or not so (docs/internals/coder.md §3). */
function parameterOf(segment: string): string {
  const decoded = decodeURIComponent(segment);
  const encodedByGo = encodeURIComponent(decoded)
    .replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll(/%(?:24|26|2B|2C|2F|3A|3B|3D|40)/g, decodeURIComponent);
  return encodedByGo === segment ? decoded : segment;
}

/** The key alone signs in, without a licence (docs/internals/coder.md §3; httpmw/provisionerdaemon.go). */
export function provisionerKey(model: CoderdModel, secret: string | undefined): Answer {
  if (secret === undefined) return { status: 401, body: { message: 'provisioner daemon key required' } };
  if (secret.length !== SECRET_LENGTH) {
    const detail = `must be ${SECRET_LENGTH} characters`;
    return { status: 400, body: { message: 'provisioner daemon key invalid', detail } };
  }
  const key = model.keys.withSecret(secret);
  if (key === undefined) return { status: 401, body: { message: 'provisioner daemon key invalid' } };
  return { status: 200, body: keyAnswer(key) };
}

function keyAnswer({ id, createdAt, organizationId, name, tags }: ProvisionerKey) {
  return { id, created_at: rfc3339(createdAt), organization: organizationId, name, tags };
}

function may({ user, organization }: OrganizationRequest, action: KeyAction): boolean {
  return holds(user.keyRights[action], organization.id);
}

function internal(detail: string): Answer {
  return { status: 500, body: { message: 'An internal server error occurred.', detail } };
}
