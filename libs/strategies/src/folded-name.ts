/** The name of an argument or member as it is compared: models write `room_id`, `roomId` and `Room ID` for the same one. */
export const foldedName = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '');
