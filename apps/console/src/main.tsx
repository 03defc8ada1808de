import './trusted-types.js';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './api/queries.js';
import { router } from './router.js';
import { applyAppearance } from './shell/appearance.js';
import { keepFocus } from './shell/keep-focus.js';

applyAppearance();
keepFocus();
createRoot(document.getElementById('console')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
