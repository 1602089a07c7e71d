/* A quota on one thread, and shared by several. */
#include <pthread.h>
#include <setjmp.h>
#include <stdalign.h>
#include <string.h>

#include "check.h"
#include "quota.h"

enum { THREADS = 4, LIMIT = 200000 };

static void test_counts(void)
{
    vp_quota quota;
    vp_quota_format(&quota, 10);
    CHECK_EQUAL(vp_quota_take(&quota, 7), 7);
    CHECK_EQUAL(vp_quota_take(&quota, 7), 3);
    CHECK_EQUAL(vp_quota_take(&quota, 7), 0);
    CHECK(!vp_quota_used_up(&quota)); /* it may come back */
    vp_quota_settle(&quota, 7, 5);
    CHECK_EQUAL(vp_quota_left(&quota), 2);
    vp_quota_settle(&quota, 3, 6); /* more than was taken */
    CHECK_EQUAL(vp_quota_left(&quota), 0);
    CHECK_EQUAL(vp_quota_take(&quota, 1), 0);
    CHECK(vp_quota_used_up(&quota));
}

static void test_no_limit_stays_so(void)
{
    vp_quota quota;
    vp_quota_format(&quota, INT64_MAX);
    CHECK_EQUAL(vp_quota_take(&quota, 1000), 1000);
    vp_quota_settle(&quota, 1000, 5000);
    CHECK_EQUAL(vp_quota_left(&quota), INT64_MAX);
    CHECK(!vp_quota_used_up(&quota));
}

static vp_quota shared;

/* Takes seven, needs four of them. */
static void *spend_until_used_up(void *spent)
{
    while (!vp_quota_used_up(&shared)) {
        int64_t granted = vp_quota_take(&shared, 7), needed = granted < 4 ? granted : 4;
        vp_quota_settle(&shared, granted, needed);
        *(int64_t *)spent += needed;
    }
    return NULL;
}

static void test_all_of_it_is_spent_once(void)
{
    int64_t spent[THREADS] = {0}, sum = 0;
    pthread_t threads[THREADS];
    vp_quota_format(&shared, LIMIT);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, spend_until_used_up, &spent[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        sum += spent[i];
    }
    CHECK_EQUAL(sum, LIMIT);
    CHECK_EQUAL(vp_quota_left(&shared), 0);
}

static jmp_buf death;
static const char *dies_at;

static void die(const char *name)
{
    if (!strcmp(name, dies_at))
        longjmp(death, 1);
}

/* Takes seven on an account and settles five with three spent; dies at a point on the way. */
static void use(vp_quota *quota, vp_account *account)
{
    if (setjmp(death))
        return;
    CHECK_EQUAL(vp_account_take(quota, account, 7), 7);
    vp_account_settle(quota, account, 5, 3);
}

/* What is not spent comes back, however its owner died; a little more where it died in the middle. */
static void test_what_the_dead_held_goes_back(void)
{
    static const struct {
        const char *point;
        int64_t left;
    } cases[] = {
        {"nowhere", 10 - 3}, {"account: raised", 10 + 7}, {"account: taken", 10}, {"account: settled", 10 - 3 + 5},
    };
    at_point = die;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        alignas(VP_LINE) char region[4 * VP_LINE] = {0};
        vp_quota *quota = vp_quota_format(region, 10);
        CHECK(vp_quota_size(2) <= sizeof region);
        dies_at = "nowhere";
        CHECK_EQUAL(vp_account_take(quota, vp_quota_account(quota, 0), 1), 1);
        vp_account_settle(quota, vp_quota_account(quota, 0), 1, 0);
        dies_at = cases[i].point;
        use(quota, vp_quota_account(quota, 1));
        vp_account_bury(quota, vp_quota_account(quota, 1));
        CHECK_EQUAL(vp_quota_left(quota), cases[i].left);
        vp_account_bury(quota, vp_quota_account(quota, 1));
        vp_account_bury(quota, vp_quota_account(quota, 0));
        CHECK_EQUAL(vp_quota_left(quota), cases[i].left);
    }
    at_point = NULL;
}

int main(void)
{
    test_what_the_dead_held_goes_back();
    test_counts();
    test_no_limit_stays_so();
    test_all_of_it_is_spent_once();
}
