// Scales what there is.
if (task.thread >= n) return;
y(task.thread) *= 2.f;
