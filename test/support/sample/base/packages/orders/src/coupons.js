import { compareDates } from '../../dates/src/index.js';

const coupons = {
  WELCOME: { percent: 10 },
  WINTER: { percent: 15, until: { year: 2026, month: 12, day: 31 } },
};

/** The discount of a coupon on a day; null where it is not (or no longer) good. */
export function couponDiscount(code, today) {
  const coupon = Object.hasOwn(coupons, code) ? coupons[code] : undefined;
  if (coupon === undefined) return null;
  if (coupon.until !== undefined && compareDates(today, coupon.until) > 0) return null;
  return { percent: coupon.percent };
}
