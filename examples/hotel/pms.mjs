// The property management system: which rooms are free. A fixture; a real system would be called over the network.
import { after, dayOf, nightsBetween, Refusal } from './dates.mjs';

const currency = 'ILS';
const rooms = [
  { room_type: 'standard', sleeps: 2, rooms: 6, price_per_night: 420 },
  { room_type: 'family', sleeps: 4, rooms: 3, price_per_night: 640 },
  { room_type: 'suite', sleeps: 2, rooms: 1, price_per_night: 980 },
];
/** Rooms that are taken, from the first night up to the day of departure. */
const bookings = [
  { room_type: 'standard', from: '2025-01-17', to: '2025-01-19', rooms: 4 },
  { room_type: 'suite', from: '2025-01-18', to: '2025-01-20', rooms: 1 },
  { room_type: 'family', from: '2026-12-04', to: '2026-12-06', rooms: 3 },
  { room_type: 'standard', from: '2026-12-04', to: '2026-12-12', rooms: 1 },
].map(({ from, to, ...booking }) => ({ ...booking, from: dayOf(from, 'from'), to: dayOf(to, 'to') }));

function getAvailability({ check_in, check_out, adults = 2 }) {
  const [from, to] = [dayOf(check_in, 'check_in'), dayOf(check_out, 'check_out')];
  const nights = nightsBetween(from, to);
  if (nights < 1) throw new Refusal('RANGE_INVALID', `check_out ${check_out} is not after check_in ${check_in}.`);
  if (nights > 30) throw new Refusal('RANGE_INVALID', `${nights} nights are more than the 30 that can be booked at once.`);
  /** Rooms of a type that are taken in a night. */
  const taken = (type, night) =>
    bookings.reduce((sum, one) => (one.room_type === type && one.from <= night && night < one.to ? sum + one.rooms : sum), 0);
  const free = rooms
    .filter(({ sleeps }) => sleeps >= adults)
    .map(({ room_type, rooms: all, price_per_night }) => ({
      room_type,
      available: Math.min(...Array.from({ length: nights }, (_, night) => all - taken(room_type, after(from, night)))),
      price_per_night,
      total: price_per_night * nights,
    }));
  return { check_in, check_out, nights, adults, currency, rooms: free };
}

const day = (description) => ({ type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: `${description}, YYYY-MM-DD` });

/**
 * The tools, for a caller that has the token of the hotel. A real system would send the token with its own requests; no result, refusal or
 * log line may ever contain it.
 */
export function openTools(token) {
  if (!token) throw new Error('PMS_TOKEN is not set: add it under `env` of this server.');
  return {
    get_availability: {
      description: 'Free rooms and their prices between two days. Both days must be known: ask the calendar first where they are not.',
      properties: {
        check_in: day('first night'),
        check_out: day('day of departure'),
        adults: { type: 'integer', minimum: 1, maximum: 4, description: 'guests in one room; 2 unless given' },
      },
      required: ['check_in', 'check_out'],
      run: getAvailability,
    },
  };
}
