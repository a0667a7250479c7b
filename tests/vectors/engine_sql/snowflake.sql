-- ibis 12.0.0, sqlglot 30.17.0

-- bins of whole numbers
SELECT
  CAST(NULL AS VARCHAR) AS "amounts",
  "t3"."code_0",
  "t3"."rows",
  0 AS "view"
FROM (
  SELECT
    "t2"."code_0",
    COUNT(*) AS "rows"
  FROM (
    SELECT
      "t1"."value_0",
      CASE
        WHEN (
          "t1"."value_0" > CAST('0.0' AS DOUBLE)
        )
        AND (
          "t1"."value_0" <= CAST('119.0' AS DOUBLE)
        )
        THEN CAST(CAST(CEIL("t1"."value_0") AS BIGINT) - CAST('0.0' AS DOUBLE) AS BIGINT)
        WHEN (
          "t1"."value_0" IS NULL
        ) OR (
          "t1"."value_0" = CAST('NaN' AS DOUBLE)
        )
        THEN -1
        WHEN "t1"."value_0" <= CAST('0.0' AS DOUBLE)
        THEN 0
        ELSE 120
      END AS "code_0"
    FROM (
      SELECT
        CAST("t0"."age" AS DOUBLE) AS "value_0"
      FROM "visits" AS "t0"
    ) AS "t1"
  ) AS "t2"
  GROUP BY
    1
) AS "t3"
LIMIT 16777217;

-- bins of an even grid
SELECT
  CAST(NULL AS VARCHAR) AS "amounts",
  "t2"."code_0",
  "t2"."rows",
  0 AS "view"
FROM (
  SELECT
    "t1"."code_0",
    COUNT(*) AS "rows"
  FROM (
    SELECT
      "t0"."risk" AS "value_0",
      CASE
        WHEN (
          "t0"."risk" > CAST('0.125' AS DOUBLE)
        )
        AND (
          "t0"."risk" <= CAST('0.875' AS DOUBLE)
        )
        THEN CAST(CEIL((
          "t0"."risk" - CAST('0.0' AS DOUBLE)
        ) * CAST('8.0' AS DOUBLE)) AS BIGINT) - 1
        WHEN (
          "t0"."risk" IS NULL
        ) OR (
          "t0"."risk" = CAST('NaN' AS DOUBLE)
        )
        THEN -1
        WHEN "t0"."risk" <= CAST('0.125' AS DOUBLE)
        THEN 0
        ELSE 7
      END AS "code_0"
    FROM "visits" AS "t0"
  ) AS "t1"
  GROUP BY
    1
) AS "t2"
LIMIT 16777217;

-- bins of a grid with rounded thresholds
SELECT
  CAST(NULL AS VARCHAR) AS "amounts",
  "t2"."code_0",
  "t2"."rows",
  0 AS "view"
FROM (
  SELECT
    "t1"."code_0",
    COUNT(*) AS "rows"
  FROM (
    SELECT
      "t0"."risk" AS "value_0",
      CASE
        WHEN (
          "t0"."risk" > CAST('0.2' AS DOUBLE)
        )
        AND (
          "t0"."risk" <= CAST('0.6' AS DOUBLE)
        )
        THEN CAST((
          (
            CAST(CAST(CEIL((
              "t0"."risk" - CAST('0.1' AS DOUBLE)
            ) * CAST('10.0' AS DOUBLE)) AS BIGINT) AS DOUBLE) - CAST('1.0' AS DOUBLE)
          ) + IFF(
            (
              CAST('0.1' AS DOUBLE) + (
                CAST('0.6' AS DOUBLE) * (
                  (
                    (
                      CAST(CAST(CEIL((
                        "t0"."risk" - CAST('0.1' AS DOUBLE)
                      ) * CAST('10.0' AS DOUBLE)) AS BIGINT) AS DOUBLE) - CAST('1.0' AS DOUBLE)
                    ) + CAST('1.0' AS DOUBLE)
                  ) / CAST('6.0' AS DOUBLE)
                )
              )
            ) < "t0"."risk",
            CAST('1.0' AS DOUBLE),
            CAST('0.0' AS DOUBLE)
          )
        ) - IFF(
          (
            CAST('0.1' AS DOUBLE) + (
              CAST('0.6' AS DOUBLE) * (
                (
                  (
                    (
                      CAST(CAST(CEIL((
                        "t0"."risk" - CAST('0.1' AS DOUBLE)
                      ) * CAST('10.0' AS DOUBLE)) AS BIGINT) AS DOUBLE) - CAST('1.0' AS DOUBLE)
                    ) - CAST('1.0' AS DOUBLE)
                  ) + CAST('1.0' AS DOUBLE)
                ) / CAST('6.0' AS DOUBLE)
              )
            )
          ) >= "t0"."risk",
          CAST('1.0' AS DOUBLE),
          CAST('0.0' AS DOUBLE)
        ) AS BIGINT)
        WHEN (
          "t0"."risk" IS NULL
        ) OR (
          "t0"."risk" = CAST('NaN' AS DOUBLE)
        )
        THEN -1
        WHEN "t0"."risk" <= CAST('0.2' AS DOUBLE)
        THEN 0
        ELSE 5
      END AS "code_0"
    FROM "visits" AS "t0"
  ) AS "t1"
  GROUP BY
    1
) AS "t2"
LIMIT 16777217;

-- bins of a geometric grid, missing values low
SELECT
  CAST(NULL AS VARCHAR) AS "amounts",
  "t9"."code_0",
  "t9"."rows",
  0 AS "view"
FROM (
  SELECT
    "t8"."code_0",
    COUNT(*) AS "rows"
  FROM (
    SELECT
      "t7"."value_0",
      "t7"."code_0_key",
      "t7"."code_0_key_right",
      "t7"."code_0_lowest",
      "t7"."code_0_0",
      "t7"."code_0_1",
      CASE
        WHEN (
          "t7"."value_0" > CAST('0.02154434690031884' AS DOUBLE)
        )
        AND (
          "t7"."value_0" <= CAST('0.46415888336127803' AS DOUBLE)
        )
        THEN "t7"."code_0_lowest" + IFF("t7"."code_0_0" < "t7"."value_0", 1, 0) + IFF("t7"."code_0_1" < "t7"."value_0", 1, 0)
        WHEN (
          "t7"."value_0" IS NULL
        ) OR (
          "t7"."value_0" = CAST('NaN' AS DOUBLE)
        )
        THEN -1
        WHEN "t7"."value_0" <= CAST('0.02154434690031884' AS DOUBLE)
        THEN 0
        ELSE 5
      END AS "code_0"
    FROM (
      SELECT
        "t4"."value_0",
        "t4"."code_0_key",
        "t6"."code_0_key" AS "code_0_key_right",
        "t6"."code_0_lowest",
        "t6"."code_0_0",
        "t6"."code_0_1"
      FROM (
        SELECT
          "t0"."risk" AS "value_0",
          CASE
            WHEN (
              "t0"."risk" > CAST('0.02154434690031884' AS DOUBLE)
            )
            AND (
              "t0"."risk" <= CAST('0.46415888336127803' AS DOUBLE)
            )
            THEN CASE
              WHEN "t0"."risk" <= CAST('0.46415888336127803' AS DOUBLE)
              THEN 0 + CAST(FLOOR(
                (
                  "t0"."risk" - CAST('0.021544346900318843' AS DOUBLE)
                ) * CAST('18.074417672691236' AS DOUBLE)
              ) AS BIGINT)
              ELSE 0
            END
            ELSE -1
          END AS "code_0_key"
        FROM "visits" AS "t0"
      ) AS "t4"
      LEFT OUTER JOIN (
        SELECT
          CAST(GET("t2"."fields", 0) AS BIGINT) AS "code_0_key",
          CAST(GET("t2"."fields", 1) AS BIGINT) AS "code_0_lowest",
          CAST(GET("t2"."fields", 2) AS DOUBLE) AS "code_0_0",
          CAST(GET("t2"."fields", 3) AS DOUBLE) AS "code_0_1"
        FROM (
          SELECT
            SPLIT("t1"."row", ',') AS "fields"
          FROM (
            SELECT
              CAST(NULLIF(IFF(_u.pos = _u_2.pos_2, _u_2."row", NULL), '') AS VARCHAR) AS "row"
            FROM TABLE(FLATTEN(INPUT => ARRAY_GENERATE_RANGE(
              0,
              (
                GREATEST(
                  ARRAY_SIZE(
                    SPLIT(
                      ARRAY_TO_STRING(
                        NULLIF(
                          SPLIT(
                            '0,1,0.04641588833612779,0.1;1,2,0.1,0.21544346900318834;2,3,0.21544346900318834,0.46415888336127803;3,3,0.21544346900318834,0.46415888336127803;4,4,0.46415888336127803,1.0;5,4,0.46415888336127803,1.0;6,4,0.46415888336127803,1.0;7,4,0.46415888336127803,1.0;8,4,0.46415888336127803,1.0',
                            ';'
                          ),
                          []
                        ),
                        'drawn at random'
                      ),
                      'drawn at random'
                    )
                  )
                ) - 1
              ) + 1
            ))) AS _u(seq, key, path, index, pos, this)
            CROSS JOIN TABLE(FLATTEN(INPUT => SPLIT(
              ARRAY_TO_STRING(
                NULLIF(
                  SPLIT(
                    '0,1,0.04641588833612779,0.1;1,2,0.1,0.21544346900318834;2,3,0.21544346900318834,0.46415888336127803;3,3,0.21544346900318834,0.46415888336127803;4,4,0.46415888336127803,1.0;5,4,0.46415888336127803,1.0;6,4,0.46415888336127803,1.0;7,4,0.46415888336127803,1.0;8,4,0.46415888336127803,1.0',
                    ';'
                  ),
                  []
                ),
                'drawn at random'
              ),
              'drawn at random'
            ))) AS _u_2(seq, key, path, pos_2, "row", this)
            WHERE
              _u.pos = _u_2.pos_2
              OR (
                _u.pos > (
                  ARRAY_SIZE(
                    SPLIT(
                      ARRAY_TO_STRING(
                        NULLIF(
                          SPLIT(
                            '0,1,0.04641588833612779,0.1;1,2,0.1,0.21544346900318834;2,3,0.21544346900318834,0.46415888336127803;3,3,0.21544346900318834,0.46415888336127803;4,4,0.46415888336127803,1.0;5,4,0.46415888336127803,1.0;6,4,0.46415888336127803,1.0;7,4,0.46415888336127803,1.0;8,4,0.46415888336127803,1.0',
                            ';'
                          ),
                          []
                        ),
                        'drawn at random'
                      ),
                      'drawn at random'
                    )
                  ) - 1
                )
                AND _u_2.pos_2 = (
                  ARRAY_SIZE(
                    SPLIT(
                      ARRAY_TO_STRING(
                        NULLIF(
                          SPLIT(
                            '0,1,0.04641588833612779,0.1;1,2,0.1,0.21544346900318834;2,3,0.21544346900318834,0.46415888336127803;3,3,0.21544346900318834,0.46415888336127803;4,4,0.46415888336127803,1.0;5,4,0.46415888336127803,1.0;6,4,0.46415888336127803,1.0;7,4,0.46415888336127803,1.0;8,4,0.46415888336127803,1.0',
                            ';'
                          ),
                          []
                        ),
                        'drawn at random'
                      ),
                      'drawn at random'
                    )
                  ) - 1
                )
              )
          ) AS "t1"
        ) AS "t2"
      ) AS "t6"
        ON "t4"."code_0_key" = "t6"."code_0_key"
    ) AS "t7"
  ) AS "t8"
  GROUP BY
    1
) AS "t9"
LIMIT 16777217;

-- bins of each class
SELECT
  CAST(NULL AS VARCHAR) AS "amounts",
  "t2"."code_0",
  "t2"."code_1",
  "t2"."rows",
  0 AS "view"
FROM (
  SELECT
    "t1"."code_0",
    "t1"."code_1",
    COUNT(*) AS "rows"
  FROM (
    SELECT
      "t0"."risk" AS "value_0",
      "t0"."sick" AS "value_1",
      CASE
        WHEN (
          "t0"."risk" > CAST('0.125' AS DOUBLE)
        )
        AND (
          "t0"."risk" <= CAST('0.875' AS DOUBLE)
        )
        THEN CAST(CEIL((
          "t0"."risk" - CAST('0.0' AS DOUBLE)
        ) * CAST('8.0' AS DOUBLE)) AS BIGINT) - 1
        WHEN (
          "t0"."risk" IS NULL
        ) OR (
          "t0"."risk" = CAST('NaN' AS DOUBLE)
        )
        THEN -1
        WHEN "t0"."risk" <= CAST('0.125' AS DOUBLE)
        THEN 0
        ELSE 7
      END AS "code_0",
      "t0"."sick" AS "code_1"
    FROM "visits" AS "t0"
  ) AS "t1"
  GROUP BY
    1,
    2
) AS "t2"
LIMIT 16777217;

-- sums of probabilities
SELECT
  "t3"."amounts",
  "t3"."code_0",
  "t3"."code_1",
  "t3"."rows",
  0 AS "view"
FROM (
  SELECT
    "t2"."code_0",
    "t2"."code_1",
    COUNT(*) AS "rows",
    CAST(SUM("t2"."amount_0") AS VARCHAR) AS "amounts"
  FROM (
    SELECT
      "t1"."value_0",
      "t1"."value_1",
      CASE
        WHEN (
          "t1"."value_0" > CAST('0.125' AS DOUBLE)
        )
        AND (
          "t1"."value_0" <= CAST('0.875' AS DOUBLE)
        )
        THEN CAST(CEIL((
          "t1"."value_0" - CAST('0.0' AS DOUBLE)
        ) * CAST('8.0' AS DOUBLE)) AS BIGINT) - 1
        WHEN (
          "t1"."value_0" IS NULL
        ) OR (
          "t1"."value_0" = CAST('NaN' AS DOUBLE)
        )
        THEN -1
        WHEN "t1"."value_0" <= CAST('0.125' AS DOUBLE)
        THEN 0
        ELSE 7
      END AS "code_0",
      "t1"."value_1" AS "code_1",
      CAST(CAST(CAST(FLOOR(
        IFF(
          COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE)) < CAST('0.0' AS DOUBLE),
          CAST('0.0' AS DOUBLE),
          IFF(
            COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE)) > CAST('1.0' AS DOUBLE),
            CAST('1.0' AS DOUBLE),
            COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE))
          )
        ) * CAST('1048576.0' AS DOUBLE)
      ) AS BIGINT) AS DOUBLE) AS BIGINT) + CASE
        WHEN (
          (
            IFF(
              COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE)) < CAST('0.0' AS DOUBLE),
              CAST('0.0' AS DOUBLE),
              IFF(
                COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE)) > CAST('1.0' AS DOUBLE),
                CAST('1.0' AS DOUBLE),
                COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE))
              )
            ) * CAST('1048576.0' AS DOUBLE)
          ) - CAST(CAST(FLOOR(
            IFF(
              COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE)) < CAST('0.0' AS DOUBLE),
              CAST('0.0' AS DOUBLE),
              IFF(
                COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE)) > CAST('1.0' AS DOUBLE),
                CAST('1.0' AS DOUBLE),
                COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE))
              )
            ) * CAST('1048576.0' AS DOUBLE)
          ) AS BIGINT) AS DOUBLE)
        ) > CAST('0.5' AS DOUBLE)
        THEN 1
        WHEN (
          (
            IFF(
              COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE)) < CAST('0.0' AS DOUBLE),
              CAST('0.0' AS DOUBLE),
              IFF(
                COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE)) > CAST('1.0' AS DOUBLE),
                CAST('1.0' AS DOUBLE),
                COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE))
              )
            ) * CAST('1048576.0' AS DOUBLE)
          ) - CAST(CAST(FLOOR(
            IFF(
              COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE)) < CAST('0.0' AS DOUBLE),
              CAST('0.0' AS DOUBLE),
              IFF(
                COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE)) > CAST('1.0' AS DOUBLE),
                CAST('1.0' AS DOUBLE),
                COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE))
              )
            ) * CAST('1048576.0' AS DOUBLE)
          ) AS BIGINT) AS DOUBLE)
        ) = CAST('0.5' AS DOUBLE)
        THEN CAST(CAST(CAST(FLOOR(
          IFF(
            COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE)) < CAST('0.0' AS DOUBLE),
            CAST('0.0' AS DOUBLE),
            IFF(
              COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE)) > CAST('1.0' AS DOUBLE),
              CAST('1.0' AS DOUBLE),
              COALESCE("t1"."value_0", CAST('1.0' AS DOUBLE))
            )
          ) * CAST('1048576.0' AS DOUBLE)
        ) AS BIGINT) AS DOUBLE) AS BIGINT) % 2
        ELSE 0
      END AS "amount_0"
    FROM (
      SELECT
        IFF("t0"."risk" = CAST('NaN' AS DOUBLE), CAST(NULL AS DOUBLE), "t0"."risk") AS "value_0",
        "t0"."sick" AS "value_1"
      FROM "visits" AS "t0"
    ) AS "t1"
  ) AS "t2"
  GROUP BY
    1,
    2
) AS "t3"
LIMIT 16777217;

-- bins of each group
SELECT
  CAST(NULL AS VARCHAR) AS "amounts",
  "t2"."code_0",
  "t2"."code_1",
  "t2"."rows",
  0 AS "view"
FROM (
  SELECT
    "t1"."code_0",
    "t1"."code_1",
    COUNT(*) AS "rows"
  FROM (
    SELECT
      "t0"."risk" AS "value_0",
      "t0"."ward" AS "value_1",
      CASE
        WHEN (
          "t0"."risk" > CAST('0.125' AS DOUBLE)
        )
        AND (
          "t0"."risk" <= CAST('0.875' AS DOUBLE)
        )
        THEN CAST(CEIL((
          "t0"."risk" - CAST('0.0' AS DOUBLE)
        ) * CAST('8.0' AS DOUBLE)) AS BIGINT) - 1
        WHEN (
          "t0"."risk" IS NULL
        ) OR (
          "t0"."risk" = CAST('NaN' AS DOUBLE)
        )
        THEN -1
        WHEN "t0"."risk" <= CAST('0.125' AS DOUBLE)
        THEN 0
        ELSE 7
      END AS "code_0",
      "t0"."ward" AS "code_1"
    FROM "visits" AS "t0"
  ) AS "t1"
  GROUP BY
    1,
    2
) AS "t2"
LIMIT 16777217;
