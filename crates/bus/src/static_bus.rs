//! The macro that writes a static bus.

/// Makes a type that knows its handlers: a static bus.
///
/// Each group names the behaviours that its requests go through, outermost first, or the type of a
/// [`Pipeline`](crate::Pipeline) that several buses share, and its handlers with what they answer: `now` for a [`HandlerNow`](crate::HandlerNow), `later` for a
/// [`Handler`](crate::Handler). A group with a handler that answers `now` has only behaviours that
/// wait for nothing. `events` names listeners, and which of them receive which event, in order.
///
/// A `later` request is a nested future for each behaviour, and a part of the caller's future.
/// `boxed` instead of `later` puts it on the heap: one allocation for a request, which is then
/// never moved, and is compiled once. It pays where a bus with many behaviours is used by other
/// crates.
///
/// The type is a struct with one field for the behaviours of each group (see
/// [`behaviours!`](crate::behaviours)), one for each handler and one for each listener. A request
/// that two handlers answer does not compile, nor does asking for one that none answers:
///
/// ```compile_fail,E0119
/// # use rialto_bus::{Command, Context, HandlerNow, Request, Result, bus};
/// # struct Ping;
/// # impl Request for Ping { type Response = (); const NAME: &'static str = "ping"; }
/// # impl Command for Ping {}
/// # struct Pinger;
/// # impl HandlerNow<Ping> for Pinger {
/// #     fn handle_now(&self, _: Ping, _: &Context<'_>) -> Result<()> { Ok(()) }
/// # }
/// bus! {
///     struct Twice {
///         all through [] {
///             one: Pinger => now Ping;
///             other: Pinger => now Ping;
///         }
///     }
/// }
/// ```
///
/// ```compile_fail,E0277
/// # use rialto_bus::{Command, Context, Dispatch, Request, bus};
/// # struct Ping;
/// # impl Request for Ping { type Response = (); const NAME: &'static str = "ping"; }
/// # impl Command for Ping {}
/// bus! { struct Nobody { all through [] {} } }
/// let _ = Nobody { all: () }.send(Ping, &Context::new());
/// ```
#[macro_export]
macro_rules! bus {
    // Sorts the body into groups, listeners and their events: a macro cannot see by itself where
    // one list of names ends and the next begins.
    (@sort $head:tt {$($groups:tt)*} events {$($events:tt)*}) => {
        $crate::bus!(@sort_events $head {$($groups)*} {} {} $($events)*);
    };
    (@sort $head:tt {$($groups:tt)*}
        $group:ident through [$($behaviours:tt)*] {$($handlers:tt)*} $($rest:tt)*
    ) => {
        $crate::bus!(@sort $head
            {$($groups)* $group through ($crate::Behaviours!($($behaviours)*)) {$($handlers)*}}
            $($rest)*
        );
    };
    (@sort $head:tt {$($groups:tt)*}
        $group:ident through $pipeline:ty {$($handlers:tt)*} $($rest:tt)*
    ) => {
        $crate::bus!(@sort $head
            {$($groups)* $group through ($pipeline) {$($handlers)*}}
            $($rest)*
        );
    };
    (@sort $head:tt {$($groups:tt)*}) => {
        $crate::bus!(@make $head {$($groups)*} {} {});
    };
    (@sort_events $head:tt $groups:tt {$($listeners:tt)*} {$($told:tt)*}) => {
        $crate::bus!(@make $head $groups {$($listeners)*} {$($told)*});
    };
    (@sort_events $head:tt $groups:tt {$($listeners:tt)*} $told:tt
        $listener:ident : $listens:ty ; $($rest:tt)*
    ) => {
        $crate::bus!(@sort_events $head $groups
            {$($listeners)* $listener : $listens ;} $told
            $($rest)*
        );
    };
    (@sort_events $head:tt $groups:tt $listeners:tt {$($told:tt)*}
        $tell:ident $event:ty => $($who:ident),+ ; $($rest:tt)*
    ) => {
        $crate::bus!(@sort_events $head $groups $listeners
            {$($told)* $tell $event => $($who),+ ;}
            $($rest)*
        );
    };

    (@make
        { $(#[$about:meta])* $vis:vis struct $Bus:ident }
        { $(
            $group:ident through ($pipeline:ty) {
                $($field:ident : $handler:ty => $($when:ident $request:ty),+ ;)*
            }
        )* }
        { $($listener:ident : $listens:ty ;)* }
        { $($tell:ident $event:ty => $($told:ident),+ ;)* }
    ) => {
        $(#[$about])*
        $vis struct $Bus {
            $(
                #[doc = "What requests of this group go through."]
                $vis $group: $pipeline,
                $(
                    #[doc = "A handler."]
                    $vis $field: $handler,
                )*
            )*
            $(
                #[doc = "A listener."]
                $vis $listener: $listens,
            )*
        }

        impl $crate::Dispatch for $Bus {}

        $($($(
            $crate::bus!(@request $when $Bus $group $field $request);
        )+)*)*
        $(
            $crate::bus!(@event $tell $Bus $event => $($told)+);
        )*
    };

    (@request now $Bus:ident $group:ident $field:ident $request:ty) => {
        impl $crate::ServesNow<$request> for $Bus {
            #[inline]
            fn serve_now(
                &self,
                request: $request,
                cx: &$crate::Context<'_>,
            ) -> $crate::Result<<$request as $crate::Request>::Response> {
                $crate::PipelineNow::run_now(&self.$group, request, cx, &self.$field)
            }
        }

        impl $crate::Serves<$request> for $Bus {
            #[inline]
            async fn serve(
                &self,
                request: $request,
                cx: &$crate::Context<'_>,
            ) -> $crate::Result<<$request as $crate::Request>::Response> {
                $crate::ServesNow::serve_now(self, request, cx)
            }
        }
    };
    (@request later $Bus:ident $group:ident $field:ident $request:ty) => {
        impl $crate::Serves<$request> for $Bus {
            #[inline]
            fn serve(
                &self,
                request: $request,
                cx: &$crate::Context<'_>,
            ) -> impl ::std::future::Future<
                Output = $crate::Result<<$request as $crate::Request>::Response>,
            > + Send {
                $crate::Pipeline::run(&self.$group, request, cx, &self.$field)
            }
        }
    };

    (@request boxed $Bus:ident $group:ident $field:ident $request:ty) => {
        impl $crate::Serves<$request> for $Bus {
            #[inline]
            async fn serve(
                &self,
                request: $request,
                cx: &$crate::Context<'_>,
            ) -> $crate::Result<<$request as $crate::Request>::Response> {
                type Answering<'a> = ::std::pin::Pin<::std::boxed::Box<
                    dyn ::std::future::Future<
                        Output = $crate::Result<<$request as $crate::Request>::Response>,
                    > + Send + 'a,
                >>;
                // A function that is not generic, so that what it boxes is compiled where the bus
                // is, once.
                fn begin<'a>(
                    bus: &'a $Bus,
                    request: $request,
                    cx: &'a $crate::Context<'a>,
                ) -> Answering<'a> {
                    ::std::boxed::Box::pin(
                        $crate::Pipeline::run(&bus.$group, request, cx, &bus.$field),
                    )
                }
                begin(self, request, cx).await
            }
        }
    };

    (@event now $Bus:ident $event:ty => $($told:ident)+) => {
        impl $crate::AnnouncesNow<$event> for $Bus {
            #[inline]
            fn announce_now(
                &self,
                event: &$event,
                cx: &$crate::Context<'_>,
            ) -> ::std::result::Result<(), $crate::PublishError> {
                let mut failures = $crate::Failures::default();
                $(failures.note(
                    stringify!($told),
                    $crate::EventHandlerNow::on_now(&self.$told, event, cx),
                );)+
                failures.into_result()
            }
        }

        impl $crate::Announces<$event> for $Bus {
            #[inline]
            async fn announce(
                &self,
                event: &$event,
                cx: &$crate::Context<'_>,
            ) -> ::std::result::Result<(), $crate::PublishError> {
                $crate::AnnouncesNow::announce_now(self, event, cx)
            }
        }
    };
    (@event later $Bus:ident $event:ty => $($told:ident)+) => {
        impl $crate::Announces<$event> for $Bus {
            async fn announce(
                &self,
                event: &$event,
                cx: &$crate::Context<'_>,
            ) -> ::std::result::Result<(), $crate::PublishError> {
                let mut failures = $crate::Failures::default();
                $(failures.note(
                    stringify!($told),
                    $crate::EventHandler::on(&self.$told, event, cx).await,
                );)+
                failures.into_result()
            }
        }
    };

    // Last, or what begins with `@` would be taken for the body of a bus.
    ($(#[$about:meta])* $vis:vis struct $Bus:ident { $($body:tt)* }) => {
        $crate::bus!(@sort { $(#[$about])* $vis struct $Bus } {} $($body)*);
    };
}
