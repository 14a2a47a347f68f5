-- The last of the jobs that one page of a list looks at, if there are so many.
SELECT s.job AS job
