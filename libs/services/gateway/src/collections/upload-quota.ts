import { Inject, Injectable } from '@nestjs/common';
import { Failure, StoredUploads, uploadsSetting } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import { GATEWAY_LIMITS, type GatewayLimits } from '../options.js';

const dayMs = 24 * 60 * 60_000;
/** Days over which bytes are counted: as long as the stores may keep a body, even of a removed document. */
const countedDays = 30;
/** Most tries to write a count while other uploads of the tenant are counted. */
const tries = 20;

/** Limits what a tenant puts into the shared body store. Removed documents count too: their bytes may still be stored. */
@Injectable()
export class UploadQuota {
  constructor(
    @Inject(STATE) private readonly state: Pick<StateStore, 'settings' | 'now'>,
    @Inject(GATEWAY_LIMITS) private readonly limits: Pick<GatewayLimits, 'maxTenantUploadBytes'>,
  ) {}

  /** Counts the bytes before they are stored. Throws UPLOAD_QUOTA_REACHED (nothing is counted then), SETTING_CHANGED, STORE_*. */
  async take(tenant: string, bytes: number): Promise<void> {
    if (bytes === 0) return;
    const name = uploadsSetting(tenant);
    const today = Math.floor((await this.state.now()) / dayMs);
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const stored = await this.state.settings.read(name);
      const days = (stored ? StoredUploads.parse(stored.value).days : []).filter(({ day }) => day > today - countedDays);
      const used = days.reduce((sum, one) => sum + one.bytes, 0);
      const { maxTenantUploadBytes: most } = this.limits;
      if (used + bytes > most)
        throw new Failure('UPLOAD_QUOTA_REACHED', `It has ${bytes} bytes; ${used} of ${most} were used within ${countedDays} days.`);
      const counted = (days.find(({ day }) => day === today)?.bytes ?? 0) + bytes;
      const next = { days: [...days.filter(({ day }) => day !== today), { day: today, bytes: counted }] };
      if (await this.state.settings.write(name, stored?.version ?? 0, next)) return;
    }
    throw new Failure('SETTING_CHANGED', 'Too many uploads of this tenant arrive at the same time.');
  }
}
