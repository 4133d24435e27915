if (task.thread < n) y(task.thread) = 0;
